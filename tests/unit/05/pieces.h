/*
 * pieces.h - what chapter 05 cuts in pieces: as chapter 03
 */
#include "../03/pieces.h"
