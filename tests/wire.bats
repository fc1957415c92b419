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

setup() {
	needs_lab
}

# Runs RUN of CHAPTER (break/CASE, or a folder) between two nodes; leaves the
# folder in $out, the packets' facts in $facts and both ends' lines in $logs.
run_wire() {
	local ladder=$BATS_TEST_TMPDIR/ladder

	COLUMNS=210 "$top/scripts/wire.sh" "$1" "$2" >"$ladder"
	out=$top/$(sed -n 's|^also: \(.*\)/wire.svg .*|\1|p' "$ladder")
	"$top/scripts/lib/python.sh" wire.packets "$out/a.pcap" >"$BATS_TEST_TMPDIR/facts"
	facts=$BATS_TEST_TMPDIR/facts
	logs=$out/logs
}

# The same, where all programs must be successful.
wire() {
	run_wire "$@"
	run cat "$logs/status.log"
	[[ $output != *"exit status "[1-9]* ]]
}

# A folder for a run of our own: a server's and a client's options.
own_run() {
	local folder=$top/build/tests/own_run

	mkdir -p "$folder"
	printf '%s\n' "server: ./server -1 $1" \
		"client: ./client -a 192.0.2.1 $2" >"$folder/commands"
	echo "$folder"
}

# The kinds of all packets from the node whose address ends so, one a line, but
# for those sent again and the CM's "have patience" in answer to them: a slow
# machine has some, and they are right.
kinds() {
	awk -F'\t' -v node="$1" 'NR > 1 && $3 ~ node "$" && $16 != "again" &&
		$5 != "MsgRcptAck" { print $5 }' "$facts"
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
	# Each is acknowledged, with its PSN.
	[[ $(field psn ACK $client) == "$(field psn 'SEND Only' $server)" ]]
	[[ $(field psn ACK $server) == "$(field psn 'SEND Only' $client)" ]]
	# The REQ says with which PSN the *other* side is to begin.
	[[ $(field start_psn ConnectRequest $client) == \
		"$(field psn 'SEND Only' $server)" ]]
	[[ $(field start_psn ConnectReply $server) == \
		"$(field psn 'SEND Only' $client)" ]]
	grep -q 'ConnectRequest QPN' "$BATS_TEST_TMPDIR/ladder"
	grep -q 'received message: message from active/client' \
		"$logs/server.log"
	# No line is longer than the terminal is wide.
	run -0 env COLUMNS=80 "$top/scripts/lib/python.sh" wire.ladder "$out"
	[[ $output == *'a ◀── b    ConnectRequest QPN'*'a ──▶ b    ConnectReply'* ]]
	[[ $output == *$'\n           server     peer disconnected.'* ]]
	[[ $(LC_ALL=C.UTF-8 wc -L <<<"$output") -le 80 ]]
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

# The facts of one node's packets whose kind matches and which are new: not
# sent again, as happens where a node is slow. A line each: PSN and kind.
new_packets() {
	local psn kind

	awk -F'\t' -v node="$1" -v kind="$2" '$3 ~ node "$" && $5 ~ kind &&
		$16 != "again" { print $6, $5 }' "$facts" |
		while read -r psn kind; do
			echo "$((psn)) $kind"
		done
}

@test "wire: 02: 1 MiB is First, Middle, Last; a READ takes its answers' PSNs" {
	local psn message

	wire 02 "$(own_run '-b 1048576 write' '-b 1048576 write')"
	# MSG_MR: address and rkey are bytes 8 to 15 and 16 to 19.
	message=$(tshark -r "$out/a.pcap" -T fields -e data.data -Y \
		"ip.src == $server && infiniband.bth.opcode == 4" 2>/dev/null |
		head -n 1)
	[[ $(($(field va 'RDMA WRITE First' $client))) -eq \
		$((16#${message:16:16})) ]]
	[[ $(($(field rkey 'RDMA WRITE First' $client))) -eq \
		$((16#${message:32:8})) ]]
	[[ $(field dmalen 'RDMA WRITE First' $client) -eq 1048576 ]]
	# 1 MiB is 1,024 packets of 1,024 bytes.
	psn=$(field psn 'RDMA WRITE First' $client)
	new_packets $client '^RDMA WRITE' | head -n 1024 |
		awk -v psn="$((psn))" '
		{ due = NR == 1 ? "First" : NR == 1024 ? "Last" : "Middle" }
		$1 != (psn + NR - 1) % 16777216 || $NF != due {
			print "packet", NR, "is", $0
			exit 1
		}
		END { exit NR != 1024 }'
	# So is the way back of a READ, with the PSNs from that of the request on.
	wire 02 "$(own_run '-b 1048576 read' '-b 1048576 read')"
	psn=$(field psn 'RDMA READ Request' $client)
	new_packets $server '^RDMA READ response' | awk -v psn="$((psn))" '
		{ number = ($1 - psn + 16777216) % 16777216 }
		number < 1024 && !seen[number]++ { count++ }
		number == 0 && $NF == "First" { first = 1 }
		number == 1023 && $NF == "Last" { last = 1 }
		END { print count, first, last; exit count != 1024 || !first || !last }'
	# What is asked for next comes after all of them.
	new_packets $client '^RDMA READ Req|^SEND' | awk -v psn="$((psn))" '
		after { exit $1 != (psn + 1024) % 16777216 }
		$1 == psn { after = 1 }'
}

# The first packet each way has the PSN that its sender says in its log.
begins_with_its_psn() {
	local node end psn

	for end in client server; do
		node=${!end}
		psn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\),.*/\1/p' \
			"$logs/$end.log")
		[[ -n $psn && $((psn)) -eq $(($(field psn 'RDMA WRITE Only' "$node"))) ]]
	done
}

@test "wire: 03 begins with the PSN that it says, and says it in the clear" {
	local psn

	wire 03_pure_verbs write
	begins_with_its_psn
	psn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\),.*/\1/p' "$logs/client.log")
	strings -n 12 "$out/a.pcap" |
		grep -q "RDMA 1 QPN 0x[0-9a-f]* PSN $psn "
}

@test "wire: 03 psn_wrap goes from 0xffffff to 0" {
	# It has no patch, so the chapter's own programs will do.
	wire 03_pure_verbs "$top/03_pure_verbs/break/psn_wrap"
	[[ $(field psn 'RDMA WRITE First' $client) == 0xfffffd ]]
	awk -F'\t' '$3 ~ /2$/ && $5 ~ /^(SEND|RDMA)/ && $16 != "again" {
			if (last == "0xffffff") after = $6
			last = $6
		}
		END { exit after != "0x0" }' "$facts"
	grep -q '^65536 bytes verified' "$logs/client.log"
	grep -q '^65536 bytes verified' "$logs/server.log"
}

# The run came through, with packets sent again.
lossy_and_right() {
	local end

	for end in client server; do
		grep -q '^36864 bytes verified' "$logs/$end.log" || return
		grep -q "^$end: exit status 0\$" "$logs/status.log" || return
	done
	awk -F'\t' '$16 == "again" { n++ } END { exit n < 3 }' "$facts"
}

# With rxe, each loss within one request counts against its 6 retries, and chance
# may lose no packet at all: either is rare, and three times in a row it is none.
@test "wire: 03 with 5 % loss: sent again, and every byte is right" {
	local try

	for try in 1 2 3; do
		LOSS=5% run_wire 03 "$(own_run '-b 36864 write' '-b 36864 write')"
		! lossy_and_right || break
	done
	echo "try $try"
	lossy_and_right
	grep -q 'RDMA .* \[retransmission\]' "$BATS_TEST_TMPDIR/ladder"
	grep -q '^rdma statistic show  *before  *after' "$BATS_TEST_TMPDIR/ladder"
	grep -Eq '^[ab] (duplicate_request|out_of_seq_request|completer_retry_err|rcvd_seq_err) ' \
		"$BATS_TEST_TMPDIR/ladder"
}

# The benchmark of chapter 07 keeps going until the cut.
@test "wire: 07: the link is cut: status 12 after 7 tries of a second" {
	local folder=$top/build/tests/own_run

	mkdir -p "$folder"
	printf '%s\n' 'server: bench/bench -1 lend' \
		'client: bench/bench -a 192.0.2.1 -n 100000 -b 4096 -q 4 measure' \
		>"$folder/commands"
	CUT=200 run_wire 07 "$folder"
	grep -q '^client: exit status 1$' "$logs/status.log"
	grep -q 'RDMA operation: status 12 ' "$logs/client.err"
	# What was sent last has left node b seven times, or more: a timer is never early.
	"$top/scripts/lib/python.sh" wire.packets "$out/b.pcap" |
		awk -F'\t' -v client=$client '$3 == client && $5 ~ /^RDMA/ { sent[$6]++; if (sent[$6] > most) most = sent[$6] }
			END { print most; exit most < 7 }'
	grep -q '(never arrives)' "$BATS_TEST_TMPDIR/ladder"
}

# The destination QPNs of a node's SENDs, and those in a log's lines after $2.
qpns_sent() {
	awk -F'\t' -v node="$1" '$3 ~ node "$" && $5 == "SEND Only" {
		print $8 }' "$facts" | sort -u | xargs printf '%d\n' | sort
}

qpns_said() {
	sed -n "s/^.*$2 QPN \(0x[0-9a-f]*\),.*/\1/p" "$logs/$1.log" |
		xargs printf '%d\n' | sort
}

@test "wire: 05: three clients are three queue pairs on each side" {
	wire 05_multiclient read
	[[ $(qpns_sent $server | wc -l) -eq 3 ]]
	[[ $(qpns_sent $client | wc -l) -eq 3 ]]
	[[ $(qpns_sent $server) == "$(qpns_said server remote:)" ]]
	[[ $(qpns_sent $client) == "$(qpns_said server 'local: ')" ]]
}

# A credit for each receive of the server's, -q 4, of which WELCOME tells; HELLO has taken one before.
@test "wire: 07 sends as many messages as it has credits, and they come back" {
	wire 07_full_speed send
	awk -F'\t' -v client=$client '
		$5 !~ /^SEND/ || $16 == "again" || $17 !~ /SEND Only [A-Z]/ { next }
		$3 == client { may = may == "" ? 0 : may - 1 }
		$3 == client && / DATA/ { data++; least = least == "" || may < least ? may : least }
		$3 != client && match($17, /credits: [0-9]+/) {
			may += substr($17, RSTART + 9, RLENGTH - 9)
		}
		END { print data, least; exit data != 6 || least < 1 }' "$facts"
	run -1 grep -q 'RNR NAK' "$facts"
	grep -Eq 'SEND Only CREDIT \(credits: 2\)' "$BATS_TEST_TMPDIR/ladder"
	grep -Eq 'SEND Only HELLO \(credits: 4\)' "$BATS_TEST_TMPDIR/ladder"
	grep -Eq 'SEND Only WELCOME \(credits: 4\)' "$BATS_TEST_TMPDIR/ladder"
}

@test "wire: what does not exist is a usage error" {
	run "$top/scripts/wire.sh" 99
	[[ $status -eq 2 && $output == *"no chapter '99'"* ]]
	run "$top/scripts/wire.sh" 01 nothing
	[[ $status -eq 2 && $output == *"there is no"* ]]
	# An empty name is no chapter, and not any chapter.
	for script in wire break exercise; do
		run -2 "$top/scripts/$script.sh" ''
	done
}
