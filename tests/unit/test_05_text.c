/*
 * test_05_text.c - chapter 05 has a log.c of its own, of which the same is true
 */
#include "test_01_text.c"
