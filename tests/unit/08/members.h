/*
 * members.h - what can be asked of chapter 08's options, beside what all have
 */
#define CHAPTER "08"
/* The words that each program needs in any case. */
#define SERVER_WORDS ""
#define CLIENT_WORDS "sum -a node"
/* clang-format off */
#define MEMBERS \
	MEMBER(address) MEMBER(max) MEMBER(hold_ms) MEMBER(bytes) \
	MEMBER(cycles) MEMBER(writes) MEMBER(verbose) MEMBER(end_after)
#define NAMES
