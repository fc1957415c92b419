/*
 * memory.h - which memory chapter 08's devices may use: as chapter 02's
 */
#include "../02/memory.h"
