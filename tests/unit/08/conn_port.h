/*
 * conn_port.h - how chapter 08's connection knows its port: as chapter 02's
 */
#include "../02/conn_port.h"
