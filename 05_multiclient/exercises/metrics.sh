# metrics.sh - what the exercise metrics asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# Waits until a line is in the file, and keeps what the file then has.
cat >"$place/mine/look.sh" <<'END'
end=$((SECONDS + 45))
until grep -qx "$1" figures.txt 2>/dev/null; do
	((SECONDS < end)) || exit 1
	read -rt 0.05 <> <(:) || true
done
cp figures.txt "$2"
END
run own "server: $(serving ./server -M figures.txt write)" \
	'client&: ./client -a 192.0.2.1 -w 8 write' \
	"look: bash look.sh 'rdma_clients_connected 1' during.txt" \
	"later: bash look.sh 'rdma_clients_connected 0' after.txt" "stop: $stopping"
ends 'the client ends well' own client 0
ends 'the server ends well' own server 0
ends 'while a client is there, the file says 1' own look 0
ends 'when it has left, 0' own later 0
want 'each figure has its explanation' mine/during.txt \
	'^# HELP rdma_clients_connected .+'
want 'and its type' mine/during.txt '^# TYPE rdma_clients_connected gauge$' 1
want 'failures have the step as a label' mine/after.txt \
	'^rdma_clients_failed_total\{step="[a-z]+"\} 0$'
if [[ -s $place/mine/after.txt ]]; then
	want 'what counts has a name in _total' mine/after.txt \
		'^# TYPE [a-z_]*([^l]|[^a]l) counter$' 0
	want 'and there is nothing else in the file' mine/after.txt \
		'^[^#r]|^#[^ ]|^r[^ ]* .*[^0-9.]' 0
else
	missing 'there is a file'
fi
if compgen -G "$place/mine/figures.txt?*" >/dev/null; then
	missing 'nothing but the file itself is left'
else
	ok 'nothing but the file itself is left'
fi
run none 'server: ./server -1 -M /nonexistent/figures.txt write' \
	'client: ./client -a 192.0.2.1 write'
ends 'a file that cannot be written keeps nobody from being served' \
	none client 0
want 'but it is said' none/server.err '/nonexistent'
