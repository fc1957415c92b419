/*
 * members.h - what can be asked of chapter 06's options, beside what all have
 */
#include <linux/rds.h>

#define CHAPTER "06"
/* The words that each program needs in any case. */
#define SERVER_WORDS "-a node"
#define CLIENT_WORDS "-a node"
/* clang-format off */
#define MEMBERS \
	MEMBER(address_count) MEMBER(addresses[0]) MEMBER(addresses[1]) \
	MEMBER(local) MEMBER(transport) MEMBER(work) MEMBER(wait) \
	MEMBER(count) MEMBER(bytes) MEMBER(command) MEMBER(key) MEMBER(csv)
#define NAMES \
	NAME(RDS_TRANS_NONE) NAME(RDS_TRANS_TCP) NAME(RDS_TRANS_IB) \
	NAME(WORK_TALK) NAME(WORK_COUNT) NAME(WORK_CONGEST) NAME(WORK_FILL) \
	NAME(WORK_WRITE) NAME(WORK_BENCH)
