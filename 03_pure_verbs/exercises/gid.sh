# gid.sh - what the runs do not show of gid_find(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A device as cards are: the first entries are empty, and each GID stands in the table
# twice, for RoCE v1 and then for v2.
cat >"$place/table.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>

#define EMPTY 20

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	typeof(&_ibv_query_gid_ex) real = dlsym(RTLD_NEXT, "_ibv_query_gid_ex");
	int ret = ENODATA;

	if (index >= EMPTY)
		ret = real(context, port, (index - EMPTY) / 2, entry, flags, size);
	if (!ret && index % 2 == 0)
		entry->gid_type = IBV_GID_TYPE_ROCE_V1;
	return ret;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
		  union ibv_gid *gid)
{
	struct ibv_gid_entry entry;
	int ret = _ibv_query_gid_ex(context, port, index, &entry, 0, sizeof(entry));

	if (!ret)
		*gid = entry.gid;
	return ret;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	typeof(&ibv_modify_qp) real = dlsym(RTLD_NEXT, "ibv_modify_qp");
	struct ibv_qp_attr ours = *attr;
	uint8_t *index = &ours.ah_attr.grh.sgid_index;

	if (mask & IBV_QP_AV) {
		if (*index < EMPTY || *index % 2 == 0)
			return EINVAL;
		*index = (*index - EMPTY) / 2;
	}
	return real(qp, &ours, mask);
}
END
cc -std=gnu11 -O1 -fPIC -shared -o "$place/table.so" "$place/table.c"
run table "server: env LD_PRELOAD=$place/table.so ./server -1 write" \
	"client: env LD_PRELOAD=$place/table.so ./client -a 192.0.2.1 write"
well 'the entry is found in a table with empty ones, and with each GID twice' table client
well 'at both ends' table server
