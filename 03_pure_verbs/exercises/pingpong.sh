# pingpong.sh - what the exercise pingpong asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# The program says nothing when it listens, so it is said for it. Its GID index
# is that of the server's address, which differs from machine to machine.
cat >"$place/mine/stranger.sh" <<'END'
address=$1 count=$2
hex=$(printf '%02x%02x:%02x%02x' ${address//./ })
for gid in /sys/class/infiniband/*/ports/1/gids/*; do
	[[ $(<"$gid") == 0000:0000:0000:0000:0000:ffff:$hex ]] && index=${gid##*/}
done
ibv_rc_pingpong -p 18600 -g "${index?no GID of $address}" -s 16 -n "$count" &
until [[ -n $(ss -Hltn 'sport = :18600') ]]; do
	kill -0 $! || exit
	read -rt 0.05 <> <(:) || true
done
echo 'listening on port 18600.'
wait $!
END
run own 'server: bash stranger.sh 192.0.2.1 3' \
	'client: ./client -a 192.0.2.1 -p 18600 write'
ends 'the client ends well' own client 0
# It ends with 0 only when all its messages have come and gone.
ends 'ibv_rc_pingpong has had its three messages' own server 0
run none 'client: ./client -a 192.0.2.1 -p 18601 write'
ends 'a client fails where nobody plays' none client 1
