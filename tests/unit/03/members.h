/*
 * members.h - what can be asked of chapter 03's options, beside what all have
 */
#include "since_03.h"

#define CHAPTER "03"
/* clang-format off */
#define MEMBERS \
	MEMBERS_SINCE_03
