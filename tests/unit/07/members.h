/*
 * members.h - what can be asked of chapter 07's options, beside what all have
 */
#include "pump.h"

#define CHAPTER "07"
/* The words that each program needs in any case. */
#define SERVER_WORDS "-d in"
#define CLIENT_WORDS "-n 5 -a node"
/* clang-format off */
#define MEMBERS \
	MEMBER(address) MEMBER(depth) MEMBER(directory) MEMBER(bytes) \
	MEMBER(tries) MEMBER(count) MEMBER(mode) MEMBER(file_count) \
	MEMBER(files[0]) MEMBER(files[1]) MEMBER(files[2]) MEMBER(csv) \
	MEMBER(update) MEMBER(benchmark) MEMBER(most) MEMBER(without)
#define NAMES \
	NAME(MODE_WRITE) NAME(MODE_READ) NAME(MODE_BENCH) NAME(MODE_SEND) \
	NAME(WITHOUT_SELECTIVE) NAME(WITHOUT_CHAINS) NAME(WITHOUT_BATCHES) \
	NAME(WITHOUT_INLINE)
