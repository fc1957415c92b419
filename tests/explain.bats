#!/usr/bin/env bats
#
# What scripts/explain.py makes of error lines: those that people got from RDMA
# programs of all kinds, and what only looks like one.

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# leads_to ENTRY LINE...: each of the lines leads to this entry.
leads_to() {
	local entry=$1 line

	shift
	for line; do
		echo "$line"
		run -0 scripts/explain.py "$line"
		says "docs/troubleshooting.md#$entry ("
	done
}

@test "lines that people asked about in public lead to their entries, others to none" {
	local table=tests/fixtures/explain_lines.tsv

	[ "$(grep -vc -e '^#' -e '^-' "$table")" -ge 200 ]
	[ "$(grep -c '^-' "$table")" -ge 40 ]
	run -0 tests/explain_lines.py "$table"
	says ', 0 wrong, 0 none'
}

@test "a line that leads elsewhere is found" {
	local table=$BATS_TEST_TMPDIR/table

	printf '%s\thttps://example.org\t%s\n' status-13 'status 12' \
		status-12 'all is well' - 'all is well' >"$table"
	run -1 tests/explain_lines.py "$table"
	says 'wrong: status-12, should be status-13: status 12'
	says 'none: -, should be status-12: all is well'
	says '1 right, 1 wrong, 1 none'
}

@test "what first.c of chapter 01 says when nothing comes leads to an entry" {
	leads_to silent 'error: completion: Connection timed out' \
		'error: RDMA_CM_EVENT_ESTABLISHED: Connection timed out'
}

@test "a status is known by its number, its name and its text, in any case and punctuation" {
	leads_to status-13 'status 13' 'Status: 13' 'wc->status = 13' \
		'wc.status=13' 'completion with status (13)' 'CQ error 13' \
		'RNR retry counter exceeded' 'rnr-retry-counter EXCEEDED!' \
		'IBV_WC_RNR_RETRY_EXC_ERR' 'ib_wc_rnr_retry_exc_err(13)' \
		'Failed status 13: wr_id 0'
	leads_to status-12 'transport retry counter exceeded' \
		'IBV_WC_RETRY_EXC_ERR' 'got completion: status=12, opcode=0'
	leads_to status-1 'IBV_WC_LOC_LEN_ERR' 'wc status: 1'
	run -1 --separate-stderr scripts/explain.py 'exit status 13'
	run -1 --separate-stderr scripts/explain.py 'HTTP status: 12'
	run -1 --separate-stderr scripts/explain.py 'error 12'
}

@test "an errno counts only beside its call" {
	leads_to memlock 'ibv_reg_mr: Cannot allocate memory'
	leads_to gpu-memory 'ibv_reg_mr: Bad address'
	leads_to create-cq 'ibv_create_cq: Cannot allocate memory'
	leads_to create-qp 'ibv_create_qp: Cannot allocate memory'
	leads_to rtr-timeout 'ibv_modify_qp failed (errno 110)'
	leads_to rtr-unreachable 'ibv_modify_qp: Network is unreachable'
	leads_to rtr-no-device 'ibv_modify_qp failed (errno 19)'
	leads_to addr-error-19 'cma event RDMA_CM_EVENT_ADDR_ERROR, error -19'
	leads_to post 'ibv_post_send: Cannot allocate memory' \
		'ibv_post_send() returned 12'
	run -1 --separate-stderr scripts/explain.py 'Cannot allocate memory'
	run -1 --separate-stderr scripts/explain.py 'mmap: Bad address'
}

@test "a completion queue that is too small has an entry, whoever says so" {
	leads_to cq-overrun 'the device says: CQ error' 'IBV_EVENT_CQ_ERR' \
		'got async event IBV_EVENT_CQ_ERR (1)' 'CQ overrun detected' \
		'mlx5_core 0000:08:00.0: CQ error on CQN 0x487, syndrome 0x1'
	# Not what only has those two words.
	leads_to status-12 'CQ error, abort requests after transport retry counter exceeded'
	leads_to async-events 'IBV_EVENT_QP_FATAL'
}

@test "it says how sure it is, and names the two next best" {
	run -0 scripts/explain.py 'Failed status 12: wr_id 0 syndrom 0x81'
	says 'docs/troubleshooting.md#status-12 (sure)'
	grep -qE '^Next best: #[a-z0-9-]+, #[a-z0-9-]+$' <<<"$output"
	run -0 scripts/explain.py 'status 12'
	says 'docs/troubleshooting.md#status-12 (likely)'
	run -0 scripts/explain.py 'error: x [docs/troubleshooting.md#rtr]'
	says 'docs/troubleshooting.md#rtr (certain)'
	[[ $output != *'Next best'* ]]
}

# surely ENTRY LINE..., likely ENTRY LINE...: and it says how sure that is.
surely() {
	local line

	for line in "${@:2}"; do
		leads_to "$1" "$line"
		says "docs/troubleshooting.md#$1 (sure)"
	done
}

likely() {
	local line

	for line in "${@:2}"; do
		leads_to "$1" "$line"
		says "docs/troubleshooting.md#$1 (likely)"
	done
}

@test "another library's call with nothing but an errno is likely, and no more" {
	likely memlock 'fi_mr_reg failed, ret is:-12, Cannot allocate memory' \
		'UCX ERROR ibv_reg_mr failed: Cannot allocate memory'
	says 'Next best: '
	run -0 scripts/explain.py 'fi_mr_reg: Cannot allocate memory'
	says 'Next best: #efa'
	likely efa 'efa:mr:efa_mr_reg_impl():850<warn> Unable to register MR: Cannot allocate memory'
	surely memlock 'ibv_reg_mr: Operation not permitted' \
		'error: ibv_reg_mr: Cannot allocate memory; 1024 bytes: this memory is locked'
	likely rejected 'fi_eq_readerr: err: 111' \
		'fi_eq_readerr: err: Connection refused (111)'
	surely rejected 'fi_eq_readerr: err: 111, prov_err: Unknown error -28 (-28)'
	likely loopback 'rdma_resolve_route: No such device'
	surely loopback 'rdma_resolve_route to 127.0.0.1: No such device'
	likely mlx5-cmd 'ibv_open_device: Cannot allocate memory'
}

@test "a driver that declines another maker's device is no sure sign that the device is missing" {
	local what='does not support the kernel ABI of'

	surely abi "Driver rxe $what 1 (supports 2 to 2) for device /sys/class/infiniband/rxe0" \
		"Driver bnxt_re $what 6 (supports 1 to 1) for device /sys/class/infiniband/bnxt_re2"
	likely abi "Driver mlx5 $what 2 (supports 1 to 1) for device /sys/class/infiniband/rxe_eth0"
}

@test "an interface without a device is told from an address that is not there" {
	surely addr-error-19 'rdma_bind_addr: No such device'
	likely addr-error-19 'rdma_create_ep: No such device' \
		'udaddy: bind address failed: No such device'
	surely cannot-assign 'rdma_bind_addr: Cannot assign requested address'
}

@test "a peer that answers no to a question of UD's is told from one that does not answer" {
	surely sidr 'udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 1' \
		'received event RDMA_CM_EVENT_UNREACHABLE. status = 2. Peer: 192.0.2.1:45601.'
	surely unreachable 'cma event RDMA_CM_EVENT_UNREACHABLE, error -110' \
		'received RDMA_CM_EVENT_UNREACHABLE (4) from CM event channel (status = -110)'
}

@test "where nothing is found it names what has the same words, in the questions, too" {
	run -1 scripts/explain.py 'why is soft-roce so slow compared with tcp?'
	says 'Why is Soft-RoCE slower than TCP?'
	says 'docs/faq.md#why-is-soft-roce-slower-than-tcp'
	run -1 scripts/explain.py 'it is Disabled, and Polling all day'
	says 'docs/troubleshooting.md#port-down'
	# What has nothing in common with it is not named, nor what a log without trouble says.
	run -1 scripts/explain.py 'segmentation fault'
	[[ $output != *docs/faq.md* && $output != *'#'* ]]
	run -1 scripts/explain.py <01_send_recv/expected/default/client.log
	[[ $output != *'#'* ]]
	run -1 scripts/explain.py <<-'END'
	all is well
	it failed to poll on the last byte of a write
	END
	says 'docs/faq.md#may-i-poll-on-the-last-byte-of-an-rdma-write'
}

@test "each question has the anchor that its heading has" {
	PYTHONPATH=scripts run -0 python3 -B - <<-'END'
	import pathlib
	import explain
	names = [q.anchor for q in explain.read_questions(explain.QUESTIONS.read_text('utf-8'))]
	page = pathlib.Path('docs/troubleshooting.md').read_text('utf-8')
	linked = set(explain.re.findall(r'faq\.md#([\w-]+)', page))
	sections = {'networks'}
	print(len(names), len(set(names)), linked - set(names) - sections)
	END
	[[ $output =~ ^([0-9]+)\ ([0-9]+)\ set\(\)$ ]]
	[ "${BASH_REMATCH[1]}" -ge 80 ]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}

@test "of a log it explains the first cause, and names the others" {
	run -0 scripts/explain.py <<-'END'
	libibverbs: Warning: couldn't load driver 'libnes-rdmav34.so': no such file
	mlx5: host: got completion with error:
	wc->status = 5 (Work Request Flushed Error)
	wc->status = 10 (remote access error)
	wc->status = 13 (RNR retry counter exceeded)
	END
	says 'docs/troubleshooting.md#status-10 (sure)'
	says 'line 4: wc->status = 10 (remote access error)'
	says 'Line 5 has one, too: #status-13'
	[[ $output != *'one, too: #status-5'* ]]
	run -0 scripts/explain.py <<-'END'
	all is well
	wc->status = 5 (Work Request Flushed Error)
	END
	says 'docs/troubleshooting.md#status-5 (sure)'
}

@test "each row of the table of words is for an entry that there is" {
	local anchor kind pattern count=0

	while IFS=$'\t' read -r anchor kind pattern; do
		[[ $anchor == '#'* || -z $anchor ]] && continue
		echo "$anchor $kind $pattern"
		[[ $kind == sure || $kind == likely || $kind == follows ]]
		[[ $kind == follows || -n $pattern ]]
		grep -qF "<a id=\"${anchor%\*}" docs/troubleshooting.md
		count=$((count + 1))
	done <scripts/lib/explain.tsv
	[ "$count" -gt 100 ]
}

@test "each entry says its cause, how to be sure, its fix, what a card does, and how it was made" {
	python3 - <<-'END'
	import re
	page = open('docs/troubleshooting.md', encoding='utf-8').read()
	entries = re.split(r'<a id="([\w-]+)"></a>\n', page)[1:]
	lacking = [(name, part) for name, text in zip(entries[::2], entries[1::2])
	           for part in ('**Cause.**', '**How to be sure.**', '**Fix.**',
	                        '**On a card.** ')
	           if part not in text]
	lacking += [(name, 'Made') for name, text in zip(entries[::2], entries[1::2])
	            if not re.search(r'\*(Made|Not made|Read, not run|The hang was not)',
	                             text)]
	print(lacking)
	raise SystemExit(bool(lacking) or len(entries) < 120)
	END
}

@test "what chapter 07 says of a file leads to its entry" {
	leads_to files 'error: a: the server refuses it: it cannot write the file' \
		'error: a: the server stops it: it cannot write the file' \
		'error: openat: Permission denied; may this user write there' \
		'error: pwrite: No space left on device; is the disk full' \
		'error: open: No such file or directory; a is not sent' \
		'error: a has become shorter while it was sent: it is given up' \
		'error: the file that arrived is not the one that was sent: it is'
	leads_to refused 'error: the peer wants 3 parts of 16384 bytes' \
		'error: protocol error: a part of no file'
	leads_to create-qp 'error: -q is too much for the device: 5000 sends'
}
