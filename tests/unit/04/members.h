/*
 * members.h - what can be asked of chapter 04's options, beside what all have
 */
#include "since_03.h"

#define CHAPTER "04"
/* clang-format off */
#define MEMBERS \
	MEMBERS_SINCE_03 MEMBER(cert) MEMBER(key) MEMBER(ca)
