# metrics.sh - what the exercise metrics asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# Waits until a line is in the file, and keeps what the file then has.
cat >"$place/mine/wait.sh" <<'END_SCRIPT'
end=$((SECONDS + 45))
until grep -qx "$1" figures.txt 2>/dev/null; do
	((SECONDS < end)) || exit 1
	read -rt 0.05 <> <(:) || true
done
cp figures.txt "$2"
END_SCRIPT
# How often is the file replaced, within 3 seconds? One that is written to while
# somebody has it open never is.
cat >"$place/mine/replaced.sh" <<'END_SCRIPT'
exec 3<figures.txt
end=$((SECONDS + 3)) count=0
while ((SECONDS < end)); do
	read -rt 0.02 <> <(:) || true
	[[ ! figures.txt -ef /dev/fd/3 ]] || continue
	count=$((count + 1))
	exec 3<figures.txt
done
echo "replaced $count times"
END_SCRIPT
run own "server: $(serving ./server -F figures.txt write)" \
	'client&: ./client -a 192.0.2.1 -w 8 write' \
	"look: bash wait.sh 'rdma_clients_connected 1' during.txt" \
	"later: bash wait.sh 'rdma_clients_connected 0' after.txt" \
	'replaced: bash replaced.sh' "stop: $stopping"
well 'the client ends well' own client
well 'the server ends well' own server
ends 'while a client is there, the file says 1' own look 0
ends 'when it has left, 0' own later 0
want 'each second there is a new file in the place of the old one' \
	own/replaced.log '^replaced [1-5] times$'
want 'each figure has its explanation' mine/during.txt \
	'^# HELP rdma_clients_connected .+'
want 'and its type' mine/during.txt '^# TYPE rdma_clients_connected gauge$'
want_at_least 'there is all that SIGUSR1 shows, and more' mine/after.txt \
	'^# TYPE rdma_[a-z_]+ (gauge|counter|summary)$' 9
want 'all have a type who have a help' mine/after.txt '^# TYPE ' \
	"$(count mine/after.txt '^# HELP ')"
# One client was served, and 1024 bytes went each way.
want_at_least 'the bytes that were moved are there, in and out' mine/after.txt \
	'^rdma_[a-z_]+_total(\{.*\})? 1024$' 2
want_at_least 'and so is what the handshakes took, in seconds' mine/after.txt \
	'^rdma_[a-z_]*handshake[a-z_]*_(seconds|seconds_sum|sum) [0-9.]+$' 1
want_at_least 'failures have the step as a label, and there were none' \
	mine/after.txt '^rdma_clients_failed_total\{step="[a-z]+"\} 0$' 6
want 'what counts has a name in _total' mine/after.txt \
	'^# TYPE [a-z_]*([^l]|[^a]l) counter$' 0
want 'and there is nothing else in the file' mine/after.txt \
	'^[^#r]|^#[^ ]|^r[^ ]* .*[^0-9.]|^$' 0
check 'nothing but the file itself is left' own 'mine/figures.txt…' \
	test -z "$(compgen -G "$place/mine/figures.txt?*")"
run none 'server: ./server -1 -F /nonexistent/figures.txt write' \
	'client: ./client -a 192.0.2.1 write'
well 'a file that cannot be written keeps nobody from being served' none client
want_at_least 'but it is said' none/server.err '/nonexistent' 1
# No file may grow, as on a full disk; pipes may.
echo 'the old one' >"$place/mine/full.txt"
run full "server: bash -c 'trap \"\" XFSZ; ulimit -f 0; exec ./server -1 -F full.txt write'" \
	'client: ./client -a 192.0.2.1 write'
well 'nor does a full disk' full client
want_at_least 'which is said, too' full/server.err 'full\.txt' 1
want 'and the old file is still there, whole' mine/full.txt '^the old one$'
check 'and nothing beside it' full 'mine/full.txt…' \
	test -z "$(compgen -G "$place/mine/full.txt?*")"
# The client would stay for longer than any run may take.
run grace "server: $(serving ./server -G 2 -F grace.txt write)" \
	'client&: ./client -a 192.0.2.1 -w 300 write' \
	"look: $(look grace/server.log '^remote buffer' 30)" "stop: $stopping"
ends 'the grace period ends when it should, and the server with it' grace server 0
