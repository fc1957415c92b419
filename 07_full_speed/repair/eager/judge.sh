# judge.sh - what a repair of eager must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# seconds RUN: how long its stream took, as the sender says.
seconds() {
	sed -nE 's/^sent .* in ([0-9.]+) s,.*/\1/p' "$place/$1/client.log"
}

recorded first
run pauses 'server: ./first pause' 'client: ORIGINAL/first 192.0.2.1'
well 'the original sender can stream to a receiver that pauses' pauses client
well 'and that has all messages' pauses server
run theirs 'server: ORIGINAL/first pause' 'client: ./first 192.0.2.1'
well 'this sender can stream to the original receiver' theirs client
ours=$(seconds pauses) original=$(seconds theirs)
check 'no message of the stream finds no receive' pauses \
	"it takes ${ours:-no} s, and the original ${original:-no} s" \
	awk "BEGIN { exit !(${ours:-99} < 3 * ${original:-0} + 0.5) }"
