/*
 * params_wire.h - parameters as chapter 05 sends them: as chapter 04, and with
 * figures in its hello
 */
#ifndef PARAMS_WIRE_05_H
#define PARAMS_WIRE_05_H

#define VERSION 3
#define HELLO_BODY 12
#include "../04/params_wire.h"

#endif
