# most.sh - what the exercise most asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

two='exec 3<>/dev/tcp/192.0.2.1/4433 4<>/dev/tcp/192.0.2.1/4433'
run three 'server: ./first 3' "client: bash -c '$two; ./first 192.0.2.1'"
well 'a client is served beside two that say nothing' three client
want 'three at a time are three' three/server.log \
	'^.figures. served: 1, failed: 2, most at a time: 3$'
# The two stay for three seconds.
run gone 'server: ./first 3' "two: bash -c '$two; read -r -t 3 <&3 || true'" \
	"look: $(look gone/server.log '^Client [12]: failed' 30 2)" 'client: ./first 192.0.2.1'
well 'a client is served after the two have gone' gone client
want 'who has gone is not counted any more' gone/server.log \
	'^.figures. served: 1, failed: 2, most at a time: 2$'
