/*
 * members.h - what can be asked of chapter 05's options, beside what all have
 */
#include "since_03.h"

#define CHAPTER "05"
/* clang-format off */
#define MEMBERS \
	MEMBERS_SINCE_03 MEMBER(cert) MEMBER(key) MEMBER(ca) \
	MEMBER(max) MEMBER(grace) MEMBER(end_after) MEMBER(hold) \
	MEMBER(retries)
