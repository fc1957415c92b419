/*
 * conn_ends.h - what chapter 04's conn.c asks of the exchange: as chapter 03's
 */
#include "../03/conn_ends.h"
