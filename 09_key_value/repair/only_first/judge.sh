# judge.sh - what a repair of only_first must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched three 'server: ./server -e 3' 'client1: ./client -a 192.0.2.1 put greeting hello' \
	'client2: ORIGINAL/client -a 192.0.2.1 get greeting' \
	'client3: ./client -a 192.0.2.1 get greeting'
well 'the first client is served' three client1
well 'the second client reads' three client2
well 'and so does the third' three client3
ends 'the server ends well' three server 0
recorded put_get talk one_sided
