# judge.sh - what a repair of stranded must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

rds='setup: scripts/setup_rds.sh tcp' on='-a 192.0.2.1 -T tcp'
# busy RUN PORT: of two servers, the one on PORT does not read for a while, which the
# client has to wait for.
busy() {
	watched "$1" "$rds" \
		"server1: bash -c 'echo \$\$ >first.pid; exec ./server -p 5000 $on'" \
		"server2: $(serving "./server -w 4 -p $2 $on")" \
		"client: ./client -a 192.0.2.1:5000,192.0.2.1:$2 -T tcp -s 4096 -n 200 count" \
		"stop: bash -c 'kill \$(<first.pid) \$(<server.pid)'"
	well "$1: a client that had to wait goes on" "$1" client
	want "$1: and both servers have all that it has sent" "$1/client.log" \
		'^  200 messages, all of them, in order$' 2
	asked=$(count "$1/client.calls" '^sendmsg errno=105')
	check "$1: it does not ask again and again" "$1" "it was told to wait $asked times" \
		test "${asked:-1000}" -le 100
	honest "$1"
}
busy first 4000
busy second 4010
# Each client says which group of ports has room.
watched group "$rds" "server: $(serving "./server -w 4 -p 4100 $on")" \
	'client: ./client -a 192.0.2.1 -p 4100 -T tcp -s 4096 -n 1000 count' "stop: $stopping"
well 'a client that meets a congestion hears of its end' group client
want 'and knows which group of ports it was' group/client.log '^news: ports of group 4 '
[[ $bad -eq 0 ]] || verdict
recorded tcp
