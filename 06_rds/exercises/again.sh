# again.sh - what the exercise again asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

both='setup: scripts/setup_rds.sh tcp'
run plain "$both" 'server: ./first 192.0.2.1' 'client: ./first 192.0.2.1 192.0.2.1'
well 'a client whose server is there is answered' plain client
well 'and its server ends well' plain server
want 'with one message' plain/client.log '^sent' 1
run late "$both" 'client&: ./first 192.0.2.1 192.0.2.1' \
	"look: $(look late/client.log '^sent' 30 3)" 'server: ./first 192.0.2.1'
ends 'without an answer, the message is sent again' late look 0
well 'a client that is there before its server is answered, and says no error' late client
well 'and this server ends well, too' late server
run none "$both" 'client: ./first 192.0.2.1 192.0.2.1'
fails 'a client without a server gives up' none client
want_at_least 'after it has sent for some ten seconds' none/client.log '^sent' 8
