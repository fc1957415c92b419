#!/usr/bin/env bats
#
# 04_wire.bats - chapter 04 on the wire between two nodes: the PSNs of the logs
# are those of the packets, and the exchange cannot be read

# shellcheck disable=SC2154 # top: set by helpers.bash
load helpers

out=$top/build/wire/04_tls_psn/read
# shellcheck disable=SC2034 # by name: ${!node}
server=192.0.2.1 client=192.0.2.2

setup_file() {
	open_device
	[[ $device_where == lab ]] || return 0
	"$top/scripts/wire.sh" 04_tls_psn read >"$BATS_FILE_TMPDIR/ladder"
	cp "$out/a.pcap" "$out"/logs/* "$BATS_FILE_TMPDIR"
}

setup() {
	needs_lab
	cd "$BATS_FILE_TMPDIR" || return
	tail -n +1 ./*.log
}

# fields FILTER FIELD…: of the packets that match, in their order.
fields() {
	local field options=()

	for field in "${@:2}"; do
		options+=(-e "$field")
	done
	tshark -n -r a.pcap -Y "$1" -T fields "${options[@]}" 2>/dev/null
}

# in_log NAME SED: the first value in a log that SED finds.
in_log() {
	sed -n "s/$2/\\1/p;T;q" "$1.log"
}

# exchange: all that went over TCP, in hexadecimal.
exchange() {
	fields tcp tcp.payload | tr -d '\n'
}

@test "04 wire: each direction begins with the PSN that its sender logs" {
	local node address psn other

	for node in server client; do
		address=${!node}
		psn=$(in_log "$node" 'Local PSN: \(0x[0-9a-f]*\),.*')
		# Requests only: an answer has its request's number.
		[[ $(fields "ip.src == $address && infiniband.bth.opcode < 13" \
			infiniband.bth.psn | head -n 1) -eq $((psn)) ]]
		[[ $(in_log "$node" '.* sq_psn=\(0x[0-9a-f]*\),.*') == "$psn" ]]
		[[ $node == server ]] && other=client || other=server
		[[ $(in_log "$other" '.* rq_psn=\(0x[0-9a-f]*\),.*') == "$psn" ]]
	done
}

@test "04 wire: no number of the exchange can be read in it" {
	local bytes node qpn psn addr rkey

	bytes=$(exchange)
	[[ ${#bytes} -gt 2000 ]]
	for node in server client; do
		read -r qpn psn < <(sed -n 's/^local:  QPN \(0x[0-9a-f]*\), PSN \(0x[0-9a-f]*\),.*/\1 \2/p' \
			"$node.log")
		read -r addr rkey < <(sed -n 's/.*peer_mr.addr=\(0x[0-9a-f]*\), peer_mr.rkey=\(0x[0-9a-f]*\)$/\1 \2/p' \
			"$node.log")
		# As the message has them, one behind the other.
		[[ $bytes != *"$(printf '%08x%08x' "$qpn" "$psn")"* ]]
		[[ $bytes != *"$(printf '%016x%08x' "$addr" "$rkey")"* ]]
		[[ $bytes != *"$(printf '%016x' "$addr")"* ]]
	done
	# The GID of either side, and RDMX.
	[[ $bytes != *ffffc0000201* && $bytes != *ffffc0000202* ]]
	[[ $bytes != *52444d58* ]]
	run ! grep -qaE 'QPN 0x|PSN 0x|RKEY 0x|RDMX|RDMA tutorial' a.pcap
}

@test "04 wire: it is TLS 1.3, and all but its beginning is encrypted" {
	local port

	# The version that the server has chosen, and the one protocol offered.
	[[ $(fields 'tls.handshake.type == 2' \
		tls.handshake.extensions.supported_version) == 0x0304 ]]
	[[ $(fields 'tls.handshake.type == 1' \
		tls.handshake.extensions_alpn_str) == rdma-params/2 ]]
	# Certificates, in which names and addresses are, are not to be seen.
	[[ -z $(fields 'tls.handshake.certificate' frame.number) ]]
	# In the clear, each direction has one handshake message (22) and the
	# change cipher spec (20) that TLS 1.3 keeps for old middleboxes. All
	# other records say that they are data (23), whatever is in them.
	for port in src dst; do
		[[ $(fields "tcp.${port}port == 4433 && tls" \
			tls.record.content_type | tr -s ',\n' '  ') == '22 20 ' ]]
		[[ $(fields "tcp.${port}port == 4433 && tls" \
			tls.record.opaque_type | tr ',' '\n' | grep . |
			sort -u) == 23 ]]
	done
}

@test "04 wire: what the exchange kept to itself is in the first packets" {
	local node address addr rkey

	# Each side's first READ has the other's address and rkey.
	for node in server client; do
		address=${!node}
		read -r addr rkey < <(sed -n 's/.*peer_mr.addr=\(0x[0-9a-f]*\), peer_mr.rkey=\(0x[0-9a-f]*\)$/\1 \2/p' \
			"$node.log")
		read -r seen_addr seen_rkey < <(
			fields "ip.src == $address && infiniband.bth.opcode == 12" \
				infiniband.reth.va infiniband.reth.r_key)
		[[ $((seen_addr)) -eq $((addr)) && $((seen_rkey)) -eq $((rkey)) ]]
	done
	grep -qa 'message from passive/server side' a.pcap
	grep -qa 'message from active/client side' a.pcap
}
