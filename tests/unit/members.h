/*
 * members.h - of each chapter's options: the words that each program needs in any case,
 * and what can be asked beside what all have
 */
/* clang-format off */
#if defined(CHAPTER_05)
#define CHAPTER "05"
#define SERVER_WORDS "write"
#define CLIENT_WORDS "write -a node"
#define MEMBERS \
	MEMBER(address) MEMBER(counts) MEMBER(mode) MEMBER(bytes) \
	MEMBER(device) MEMBER(port_num) MEMBER(gid_index) MEMBER(psn) \
	MEMBER(network.service_level) MEMBER(network.traffic_class) \
	MEMBER(network.pkey_index) MEMBER(network.mtu) \
	MEMBER(network.ack_timeout) MEMBER(network.retry_count) \
	MEMBER(cert) MEMBER(key) MEMBER(ca) MEMBER(max) MEMBER(grace) \
	MEMBER(end_after) MEMBER(hold) MEMBER(retries)
#define NAMES \
	NAME(MODE_WRITE) NAME(MODE_READ) NAME(IBV_MTU_256) \
	NAME(IBV_MTU_1024) NAME(IBV_MTU_4096)
#elif defined(CHAPTER_06)
#define CHAPTER "06"
#include <linux/rds.h>

#define SERVER_WORDS "-a node"
#define CLIENT_WORDS "-a node"
#define MEMBERS \
	MEMBER(address_count) MEMBER(addresses[0]) MEMBER(addresses[1]) \
	MEMBER(local) MEMBER(transport) MEMBER(work) MEMBER(wait) \
	MEMBER(count) MEMBER(bytes) MEMBER(command) MEMBER(key) MEMBER(csv)
#define NAMES \
	NAME(RDS_TRANS_NONE) NAME(RDS_TRANS_TCP) NAME(RDS_TRANS_IB) \
	NAME(WORK_TALK) NAME(WORK_COUNT) NAME(WORK_CONGEST) NAME(WORK_FILL) \
	NAME(WORK_WRITE) NAME(WORK_BENCH)
#elif defined(CHAPTER_07)
#define CHAPTER "07"
#include "pump.h"

#define SERVER_WORDS "-d in"
#define CLIENT_WORDS "-n 5 -a node"
#define MEMBERS \
	MEMBER(address) MEMBER(depth) MEMBER(directory) MEMBER(bytes) \
	MEMBER(tries) MEMBER(count) MEMBER(mode) MEMBER(file_count) \
	MEMBER(files[0]) MEMBER(files[1]) MEMBER(files[2]) MEMBER(csv) \
	MEMBER(update) MEMBER(benchmark) MEMBER(most) MEMBER(without)
#define NAMES \
	NAME(MODE_WRITE) NAME(MODE_READ) NAME(MODE_BENCH) NAME(MODE_SEND) \
	NAME(WITHOUT_SELECTIVE) NAME(WITHOUT_CHAINS) NAME(WITHOUT_BATCHES) \
	NAME(WITHOUT_INLINE)
#elif defined(CHAPTER_08)
#define CHAPTER "08"
#define SERVER_WORDS ""
#define CLIENT_WORDS "sum -a node"
#define MEMBERS \
	MEMBER(address) MEMBER(max) MEMBER(hold_ms) MEMBER(bytes) \
	MEMBER(cycles) MEMBER(writes) MEMBER(verbose) MEMBER(end_after)
#define NAMES
#endif
