# post_recv.sh - what the runs do not show of data_post_recv(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

text=$(printf '%01000d' 0)
run whole 'server: ./server -1' "client: ORIGINAL/client -a 192.0.2.1 -s $text"
well 'the receive has room for a message of 1,000 bytes' whole server
want 'and the server gets all of it' whole/server.log '^received message: 0{1000}$'
