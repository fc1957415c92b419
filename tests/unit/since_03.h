/*
 * since_03.h - what can be asked of the options of chapters 03 to 05
 */
/* The words that each program needs in any case. */
#define SERVER_WORDS "write"
#define CLIENT_WORDS "write -a node"
/* clang-format off */
#define MEMBERS_SINCE_03 \
	MEMBER(address) MEMBER(counts) MEMBER(mode) MEMBER(bytes) \
	MEMBER(device) MEMBER(port_num) MEMBER(gid_index) MEMBER(psn) \
	MEMBER(network.service_level) MEMBER(network.traffic_class) \
	MEMBER(network.pkey_index) MEMBER(network.mtu) \
	MEMBER(network.ack_timeout) MEMBER(network.retry_count)
#define NAMES \
	NAME(MODE_WRITE) NAME(MODE_READ) NAME(IBV_MTU_256) \
	NAME(IBV_MTU_1024) NAME(IBV_MTU_4096)
