/*
 * members.h - what can be asked of chapter 01's options, beside what all have
 */
#define CHAPTER "01"
/* The words that each program needs in any case. */
#define SERVER_WORDS ""
#define CLIENT_WORDS "-a node"
/* clang-format off */
#define MEMBERS \
	MEMBER(address) MEMBER(text)
#define NAMES
