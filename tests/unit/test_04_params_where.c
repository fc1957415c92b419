/*
 * test_04_params_where.c - what chapter 04 makes of where a peer says it is
 */
#include "params_where.h"
