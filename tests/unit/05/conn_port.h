/*
 * conn_port.h - how chapter 05's connection knows its port: as chapter 03's
 */
#include "../03/conn_port.h"
