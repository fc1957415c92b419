/*
 * test_05_params_where.c - what chapter 05 makes of where a peer says it is
 */
#include "params_where.h"
