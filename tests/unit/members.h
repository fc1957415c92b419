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
#endif
