#!/usr/bin/env bats
#
# What scripts/explain.py makes of error lines: those that people got from RDMA
# programs of all kinds, and what only looks like one.

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

@test "lines that people asked about in public lead to their entries, others to none" {
	local table=tests/fixtures/explain_lines.tsv

	[ "$(grep -vc -e '^#' -e '^-' "$table")" -ge 200 ]
	[ "$(grep -c '^-' "$table")" -ge 40 ]
	run -0 tests/explain_lines.py "$table"
	says ', 0 wrong, 0 none'
}

@test "each line of our own leads to its entry, as surely as it should" {
	run -0 tests/explain_lines.py tests/fixtures/explain_own.tsv
	says ', 0 wrong, 0 none'
	# What is likely has others beside it, with the reason for each.
	run -0 scripts/explain.py 'UCX ERROR ibv_reg_mr failed: Cannot allocate memory'
	says '#memlock (likely: reg, mr, cannot allocate memory)'
	says '#kho (reg, mr, cannot allocate memory)'
	run -0 scripts/explain.py 'fi_mr_reg: Cannot allocate memory'
	says '#efa (mr, cannot allocate memory, fi)'
}

@test "of lines that it was not made for most lead to their entry, and none is wrong and sure" {
	local first lines three

	run tests/explain_lines.py tests/fixtures/explain_parts.tsv
	says ' 0 wrong and sure'
	[[ $output =~ of\ ([0-9]+):\ ([0-9]+)\ first,\ ([0-9]+)\ among ]]
	lines=${BASH_REMATCH[1]} first=${BASH_REMATCH[2]} three=${BASH_REMATCH[3]}
	[ "$lines" -ge 500 ]
	[ $((first * 100)) -ge $((lines * 90)) ]
	[ $((three * 100)) -ge $((lines * 95)) ]
}

@test "what the programs here print when all is well leads nowhere" {
	local logs=([0-9][0-9]_*/expected/*/*.log)

	[ "${#logs[@]}" -ge 50 ]
	run -1 scripts/explain.py < <(cat "${logs[@]}")
}

@test "a line that leads elsewhere is found" {
	local table=$BATS_TEST_TMPDIR/table

	printf '%s\t%s\t%s\n' status-13 - 'status 12' status-12 - 'all is well' \
		- - 'all is well' status-12 sure 'status 12' >"$table"
	run -1 tests/explain_lines.py "$table"
	says 'wrong: status-12 (likely; '
	says '), should be status-13: status 12'
	says 'none: - (no rule; ), should be status-12: all is well'
	says '), should be status-12: status 12'
	says '1 right, 2 wrong, 1 none'
}

@test "what each first.c says when nothing comes leads to an entry" {
	local wait waits

	mapfile -t waits < <(grep -ohE 'readable\([^ ]*, TIMEOUT_MS\)' [0-9][0-9]_*/first.c | sort -u)
	[ "${#waits[@]}" -ge 2 ]
	for wait in "${waits[@]}" 'Client 2: done == 1' 'n == len'; do
		run -0 scripts/explain.py "error: $wait: Connection timed out"
		says 'docs/troubleshooting/waiting.md#silent ('
	done
}

@test "it says how sure it is, and names the two next best" {
	run -0 scripts/explain.py 'Failed status 12: wr_id 0 syndrom 0x81'
	says 'docs/troubleshooting/requests.md#status-12 (sure: '
	[ "$(grep -A9 '^Next best:' <<<"$output" | grep -c 'docs/.*#')" = 2 ]
	run -0 scripts/explain.py 'status 12'
	says 'docs/troubleshooting/requests.md#status-12 (likely: status 12)'
	run -0 scripts/explain.py 'a deadline would have given RDMA_CM_EVENT_ROUTE_ERROR'
	says 'docs/troubleshooting/connecting.md#route-error (likely: '
	run -0 scripts/explain.py 'error: x [docs/troubleshooting.md#rtr]'
	says 'docs/troubleshooting/queue_pairs.md#rtr (certain: the line names it)'
	[[ $output != *'Next best'* ]]
}

@test "where nothing is found it names what has the same words, in the questions, too" {
	run -1 scripts/explain.py 'why is soft-roce so slow compared with tcp?'
	says 'Why is Soft-RoCE slower than TCP?'
	says 'docs/faq.md#why-is-soft-roce-slower-than-tcp'
	# A rule that nearly fits counts as well.
	run -1 scripts/explain.py 'Everything seems ok but no vhca device in test Pod.'
	says '#k8s (in common: '
	# So does a hint, which leads nowhere by itself.
	run -1 scripts/explain.py 'the receiver deadlocks, and its collectives stop completing'
	says '#retry-hang (in common: '
	# What has nothing in common with it is not named, nor what a log without trouble says.
	run -1 scripts/explain.py 'segmentation fault'
	[[ $output != *docs/faq.md* && $output != *'#'* ]]
	says 'Look for a line'
	run -1 scripts/explain.py <01_send_recv/expected/default/client.log
	[[ $output != *'#'* ]]
	run -1 scripts/explain.py <<-'END'
	all is well
	it failed to poll on the last byte of a write
	END
	says 'docs/troubleshooting/waiting.md#last-byte'
}

@test "each question has the anchor that its heading has" {
	PYTHONPATH=scripts run -0 /usr/bin/python3 -B -S - <<-'END'
	import pathlib
	import explain
	names = [name[4:] for name in explain.Table().entries if name.startswith('faq:')]
	page = ''.join(p.read_text('utf-8') for p in explain.PAGES.glob('*.md'))
	linked = set(explain.re.findall(r'faq\.md#([\w-]+)', page))
	sections = {'networks'}
	print(len(names), len(set(names)), linked - set(names) - sections)
	END
	[[ $output =~ ^([0-9]+)\ ([0-9]+)\ set\(\)$ ]]
	[ "${BASH_REMATCH[1]}" -ge 50 ]
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
	says 'docs/troubleshooting/requests.md#status-10 (sure: '
	says 'line 4: wc->status = 10 (remote access error)'
	says 'Line 5 has one, too: #status-13'
	[[ $output != *'one, too: #status-5'* ]]
	run -0 scripts/explain.py <<-'END'
	all is well
	wc->status = 5 (Work Request Flushed Error)
	END
	says 'docs/troubleshooting/requests.md#status-5 (sure: '
}

@test "each row of the table is for an entry that there is, and no token is misspelt" {
	PYTHONPATH=scripts run -0 /usr/bin/python3 -B -S - <<-'END'
	import explain
	table = explain.Table()
	capitals = {token for *_, words, none in table.rules for token in sum(words, none) if token.isupper()}
	known = {token for some in table.phrases.values() for _, token in some}
	print(len(table.rules), {rule[0] for rule in table.rules} - set(table.entries), capitals - known)
	END
	[[ $output =~ ^([0-9]+)\ set\(\)\ set\(\)$ ]]
	[ "${BASH_REMATCH[1]}" -gt 200 ]
}

@test "each entry says its cause, how to be sure, its fix, and how we know; the index leads to it" {
	/usr/bin/python3 -S - <<-'END'
	import pathlib, re
	index = pathlib.Path('docs/troubleshooting.md').read_text('utf-8')
	count, lacking = 0, []
	for path in sorted(pathlib.Path('docs/troubleshooting').glob('*.md')):
	    _, *entries = re.split(r'<a id="([\w-]+)"></a>\n', path.read_text('utf-8'))
	    for name, text in zip(entries[::2], entries[1::2]):
	        count += 1
	        lacking += [(name, part) for part in ('**Cause.**', '**How to be sure.**', '**Fix.**')
	                    if part not in text]
	        if not re.search(r'\*(Seen|Read)', text):
	            lacking.append((name, 'how we know'))
	        if not re.search(rf'<a id="{name}"></a>\[[^]]*\]\(troubleshooting/{path.name}#{name}\)', index):
	            lacking.append((name, 'index'))
	print(lacking)
	raise SystemExit(bool(lacking) or count < 90)
	END
}

# a_megabyte KIND: of digits, of blanks, of escapes, in one line.
a_megabyte() {
	local text

	case $1 in
	digits) text=11111111 ;;
	blanks) text='        ' ;;
	escapes) text=$'\e[31m\e]0' ;;
	esac
	printf 'error: '
	printf -- "$text%.0s" {1..125000}
	echo x
}

@test "a megabyte of digits, of blanks or of escapes costs seconds, and no control character" {
	local kind

	for kind in digits blanks escapes; do
		a_megabyte $kind >"$BATS_TEST_TMPDIR/$kind"
		# Two seconds on a machine that has nothing else to do.
		run -1 timeout 20 scripts/explain.py <"$BATS_TEST_TMPDIR/$kind"
		run -1 grep -q '[[:cntrl:]]' <<<"$output"
	done
	printf 'Failed status 12: \e]0;title\a\xff\n' >"$BATS_TEST_TMPDIR/title"
	run -0 scripts/explain.py <"$BATS_TEST_TMPDIR/title"
	says 'Failed status 12: \x1b]0;title\x07\xff'
	run -1 grep -q '[[:cntrl:]]' <<<"$output"
}
