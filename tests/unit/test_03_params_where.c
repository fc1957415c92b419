/*
 * test_03_params_where.c - what chapter 03 makes of where a peer says it is
 */
#include "params_where.h"
