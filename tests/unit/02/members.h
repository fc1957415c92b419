/*
 * members.h - what can be asked of chapter 02's options, beside what all have
 */
#define CHAPTER "02"
/* The words that each program needs in any case. */
#define SERVER_WORDS "write"
#define CLIENT_WORDS "write -a node"
/* clang-format off */
#define MEMBERS \
	MEMBER(address) MEMBER(first) MEMBER(counts) MEMBER(mode) \
	MEMBER(bytes)
#define NAMES \
	NAME(MODE_WRITE) NAME(MODE_READ)
