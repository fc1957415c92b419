# pingpong.sh - what the exercise pingpong asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# The program says nothing when it listens, so it is said for it. Its GID index
# is that of the server's address, which differs from machine to machine.
cat >"$place/mine/stranger.sh" <<'END_SCRIPT'
address=$1 count=$2
hex=$(printf '%02x%02x:%02x%02x' ${address//./ })
for gid in /sys/class/infiniband/*/ports/1/gids/*; do
	[[ $(<"$gid") == 0000:0000:0000:0000:0000:ffff:$hex ]] && index=${gid##*/}
done
timeout 10 ibv_rc_pingpong -p 18600 -g "${index?no GID of $address}" -s 8 -n "$count" &
stranger=$!
until [[ -n $(ss -Hltn 'sport = :18600') ]]; do
	kill -0 $stranger || exit
	read -rt 0.05 <> <(:) || true
done
echo 'listening on port 18600.'
wait $stranger
END_SCRIPT
# Somebody who answers something else, says what he was sent, and waits for the end.
cat >"$place/mine/liar.py" <<'END_SCRIPT'
import socket
import sys

port, answer = int(sys.argv[1]), sys.argv[2].replace('0\\', '\0').encode()
listener = socket.create_server(('', port))
print('listening on port', port, flush=True)
peer = listener.accept()[0]
peer.settimeout(30)
got = peer.recv(52, socket.MSG_WAITALL)
print('got', len(got), 'bytes:', got.decode().replace('\0', '0\\'), flush=True)
peer.sendall(answer)
if not answer or len(answer) == 52:
    peer.recv(1)
END_SCRIPT
run own 'server: bash stranger.sh 192.0.2.1 3' \
	"client: $(witness own/client.calls ./client -a 192.0.2.1 -p 18600 write)"
well 'the client ends well' own client
# It ends with 0 only when all its messages have come and gone.
ends 'ibv_rc_pingpong has had its three messages' own server 0
want 'and each of its answers was waited for' own/client.calls \
	'^completion status=0 opcode=128$' 3
run left 'server: bash stranger.sh 192.0.2.1 2' \
	'client: ./client -a 192.0.2.1 -p 18600 -t 4 write'
fails 'a server that ends after two is an error of the client' left client
gid=00000000000000000000ffffc0000201
# liar WHAT NAME ANSWER: it must be refused before the queue pair is connected.
liar() {
	run "$2" "server: /usr/bin/python3 liar.py 18601 '$3'" \
		'client: ./client -a 192.0.2.1 -p 18601 -t 3 write'
	if [[ $(count "$2/client.log" '-> RTR') == 0 ]]; then
		fails "$1" "$2" client
	else
		missing "$1" 'not before the queue pair is connected' "$2"
	fi
}
liar 'letters in the place of numbers are refused' letters \
	"000g:000011:123456:${gid}0\\"
want 'the client sends exactly the 52 bytes, with a zero at the end' \
	letters/server.log '^got 52 bytes: [0-9a-f]{4}:([0-9a-f]{6}:){2}[0-9a-f]{32}0\\$'
liar 'a sign in the place of a digit is refused' sign \
	"0000:000011:+23456:${gid}0\\"
liar 'a line without a zero at its end is refused' endless \
	"0000:000011:123456:${gid}0"
liar 'half a line is refused' half '0000:000011:1234'
liar 'queue pair number 0, which is nobody'\''s, is refused' nobody \
	"0000:000000:123456:${gid}0\\"
liar 'a server that says nothing is an error' silent ''
run none 'client: ./client -a 192.0.2.1 -p 18602 write'
fails 'a client fails where nobody plays' none client
