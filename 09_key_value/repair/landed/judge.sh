# judge.sh - what a repair of landed must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# Each bucket of the first table has a key; and then one comes again.
printf 'put k%d value\n' 0 1 2 3 4 5 6 7 0 >"$place/mine/lines"
watched eight 'server: ./server -e 2' 'client1: ./client -a 192.0.2.1 do lines' \
	'client2: ./client -a 192.0.2.1 -t 2 scan'
want 'eight keys are put, and each is there' eight/client2.log '^version [12]: k[0-7] = value$' 8
ends 'the server ends well' eight server 0
watched later 'server: ./server -e 4' 'client1: ./client -a 192.0.2.1 put k0 hello' \
	'client2: ORIGINAL/client -a 192.0.2.1 put k1 world' \
	'client3: ./client -a 192.0.2.1 -t 2 get k0' 'client4: ./client -a 192.0.2.1 -t 2 get k1'
want 'what was put is there after another PUT' later/client3.log '^version 1: k0 = hello$'
want 'and so is that' later/client4.log '^version 1: k1 = world$'
recorded put_get talk
