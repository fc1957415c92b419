# judge.sh - what a repair of sparing must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

run slow 'server: ./server -1 -t 3 write' \
	"client: bash -c 'for i in 1 2 3 4 5 6 7; do sleep 1; printf A; done | openssl s_client -quiet -no_ign_eof -connect 192.0.2.1:4433 -cert certs/client.pem -key certs/client.key -alpn rdma-params/2 >said 2>&1; true'"
fails 'a client that says a byte a second is given up' slow server \
	'parameters: nothing came within 3 s'
run silent 'server: ./server -1 -t 3 write' "client: bash -c 'exec 3<>/dev/tcp/192.0.2.1/4433 && cat <&3'"
fails 'and so is one that says nothing' silent server 'nothing came within 3 s'
together write
recorded read
