#!/usr/bin/env bats
# shellcheck disable=SC2154 # top: set by helpers.bash
# wire.bats - what the packets of a fresh run between two nodes say
#
# Facts, not bytes: which packets crossed, in which order, with which numbers,
# and that these are the numbers that the programs printed.

load helpers

setup_file() {
	open_device
}

teardown_file() {
	close_device
}

setup() {
	needs_lab
}

# Runs RUN of CHAPTER between two nodes; leaves its facts in $facts and both
# ends' lines in $logs.
wire() {
	local out=$top/build/wire/$1/$2

	"$top/scripts/wire.sh" "$1" "$2" >"$BATS_TEST_TMPDIR/ladder"
	"$top/scripts/wire/packets.py" "$out/a.pcap" >"$BATS_TEST_TMPDIR/facts"
	facts=$BATS_TEST_TMPDIR/facts
	logs=$out/logs
	run cat "$logs/status.log"
	[[ $output != *"exit status "[1-9]* ]]
}

# The kinds of all packets from the node whose address ends so, one a line.
kinds() {
	awk -F'\t' -v node="$1" 'NR > 1 && $3 ~ node "$" { print $5 }' "$facts"
}

# The field NAME of the first packet of KIND that a node has sent.
field() {
	awk -F'\t' -v name="$1" -v kind="$2" -v node="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$5 == kind && $3 ~ node "$" { print $(at[name]); exit }' "$facts"
}

server=192.0.2.1
client=192.0.2.2

@test "wire: 01 is REQ, REP, RTU, a SEND each way, DREQ, DREP" {
	wire 01_send_recv default
	[[ $(kinds $client | grep -v '^ACK$' | tr '\n' ,) == \
		ConnectRequest,ReadyToUse,SEND\ Only,DisconnectRequest, ]]
	[[ $(kinds $server | grep -v '^ACK$' | tr '\n' ,) == \
		ConnectReply,SEND\ Only,DisconnectReply, ]]
	[[ $(kinds $client | grep -c '^ACK$') -eq 1 ]]
	[[ $(kinds $server | grep -c '^ACK$') -eq 1 ]]
	# The REQ says with which PSN the *other* side is to begin.
	[[ $(field start_psn ConnectRequest $client) == \
		"$(field psn 'SEND Only' $server)" ]]
	[[ $(field start_psn ConnectReply $server) == \
		"$(field psn 'SEND Only' $client)" ]]
	grep -q 'ConnectRequest QPN' "$BATS_TEST_TMPDIR/ladder"
	grep -q 'received message: message from active/client' \
		"$logs/server.log"
}

@test "wire: 02 writes to the address and with the rkey of MSG_MR" {
	local va rkey

	wire 02_write_read write
	va=$(field va 'RDMA WRITE Only' $client)
	rkey=$(field rkey 'RDMA WRITE Only' $client)
	grep -q "peer_mr.addr=$va, peer_mr.rkey=$rkey\$" "$logs/client.log"
	va=$(field va 'RDMA WRITE Only' $server)
	rkey=$(field rkey 'RDMA WRITE Only' $server)
	grep -q "peer_mr.addr=$va, peer_mr.rkey=$rkey\$" "$logs/server.log"
	[[ $(field dmalen 'RDMA WRITE Only' $client) -eq 1024 ]]
}

@test "wire: 02 reads with a request, and the peer's device answers" {
	wire 02_write_read read
	[[ $(field psn 'RDMA READ Request' $client) == \
		"$(field psn 'RDMA READ response Only' $server)" ]]
	[[ $(field psn 'RDMA READ Request' $server) == \
		"$(field psn 'RDMA READ response Only' $client)" ]]
}

@test "wire: 03 begins with the PSN that it says, and says it in the clear" {
	local psn

	wire 03_pure_verbs write
	psn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\),.*/\1/p' "$logs/client.log")
	[[ -n $psn && $((psn)) -eq $(($(field psn 'SEND Only' $client))) ]]
	strings -n 12 "$top/build/wire/03_pure_verbs/write/a.pcap" |
		grep -q "RDMA 1 QPN 0x[0-9a-f]* PSN $psn "
	psn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\),.*/\1/p' "$logs/server.log")
	[[ -n $psn && $((psn)) -eq $(($(field psn 'SEND Only' $server))) ]]
}

@test "wire: what does not exist is a usage error" {
	run "$top/scripts/wire.sh" 99
	[[ $status -eq 2 && $output == *"no chapter 99"* ]]
	run "$top/scripts/wire.sh" 01 nothing
	[[ $status -eq 2 && $output == *"there is no"* ]]
}
