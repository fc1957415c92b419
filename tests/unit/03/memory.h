/*
 * memory.h - which memory chapter 03's devices may use: as chapter 02's
 */
#include "../02/memory.h"
