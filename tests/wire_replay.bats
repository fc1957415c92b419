#!/usr/bin/env bats
#
# wire_replay.bats - the recorded pictures and pages of what crossed the wire:
# small, readable by everybody, and true to their captures
# shellcheck disable=SC2154 # top: set by helpers.bash

load helpers

setup() {
	cd "$top" || return
}

# bats test_tags=chapters
@test "wire: each recorded page shows at each step what the capture says" {
	local pages=([0-9][0-9]_*/expected/wire.html)

	[[ -e ${pages[0]} ]]
	run -0 tests/replay_page.py "${pages[@]%/*}"
	[[ -z $output ]]
}

# bats test_tags=chapters
@test "wire: each packet that a chapter sends leads to the line that sends it" {
	PYTHONPATH=scripts run -0 /usr/bin/python3 -B -S - <<-'END'
	import pathlib
	import re
	import sys
	from lib.chapters import chapters
	from lib.wire import packets, sources
	OURS = re.compile('(Connect|Disconnect)Re|ReadyToUse|SEND|RDMA (WRITE|READ Req)|'
	                  'TCP (text|FIN)|TLS (Client|Server|App)')
	count = 0
	# In 06 it is the kernel that sends.
	for chapter, row in chapters('.').items():
	    if row.devices == 'rds':
	        continue
	    files = row.shown == 'send'
	    code = sources.Sources(chapter, files)
	    for packet in packets.read(f'{chapter}/expected/wire.pcapng'):
	        if not OURS.match(packet.kind):
	            continue
	        count += 1
	        line = code.of_packet(packet)
	        if not line:
	            print(f'{chapter}: nobody sends {packet.text}')
	        elif (line.file == 'request.c') != bool(re.search(' [A-Z]{3}', packet.text[9:])) \
	                and files and packet.kind.startswith('SEND'):
	            print(f'{chapter}: {packet.text} is sent in {line.file}')
	print(f'{count} packets')
	END
	[[ $output =~ ^[0-9]{2,}\ packets$ ]]
}

# bats test_tags=chapters
@test "wire: what is recorded is small, and linked from the chapter's text" {
	local folder name pages=([0-9][0-9]_*/expected/wire.html)

	[[ ${#pages[@]} -ge 7 ]]
	for folder in "${pages[@]%/*}"; do
		[[ $(stat -c %s "$folder/wire.svg") -lt 200000 ]]
		[[ $(stat -c %s "$folder/wire.html") -lt 300000 ]]
		[[ $(stat -c %s "$folder/wire.pcapng") -lt 50000 ]]
		grep -q 'prefers-color-scheme: dark' "$folder/wire.svg"
		for name in svg html txt pcapng; do
			grep -hq "](expected/wire.$name)" "$folder"/../*.md
		done
	done
}

# changed SED: a copy of chapter 02's page and all, with each change made.
changed() {
	local change folder=$BATS_TEST_TMPDIR/changed

	rm -rf "$folder"
	mkdir -p "$folder"
	cp 02_write_read/expected/wire.* "$folder"
	for change; do
		cp "$folder/wire.html" "$folder/before"
		sed -i "$change" "$folder/wire.html"
		if cmp -s "$folder/wire.html" "$folder/before"; then
			echo "nothing was changed by $change"
			return 1
		fi
	done
	run -1 tests/replay_page.py "$folder"
}

@test "wire: a page that shows something else than the capture is found" {
	local what

	# Another rkey in a packet, another byte in a buffer, a state that the
	# next completion does not meet, an access to the network, a text too
	# pale to be read.
	changed 's/\["RETH rkey","0x/&f/' \
		's/"change":\["a","messages",0,"52/"change":["a","messages",0,"53/' \
		's/"SS_RDMA_SENT","RS/"SS_MR_SENT","RS/g' \
		's|<h1>|<img src="https://example.org/x.png"><h1>|' \
		's/--soft: #59636e/--soft: #a9b3be/'
	for what in 'RETH rkey' ': bytes' 'send state' 'loads something else' \
		'light: contrast'; do
		[[ $output == *"$what"* ]]
	done
	# A script with a mistake.
	changed 's/^let now = 0;/let now = 0; fail();/'
}

# filtered CHAPTER FILTER: what the filter leaves of its capture.
filtered() {
	tshark -n -r "$1/expected/wire.pcapng" -Y "$2" 2>/dev/null
}

# A number in hexadecimal is one that the picture shows, so the reader finds it.
# bats test_tags=chapters
@test "wire: each filter that a chapter names is one, and its numbers are found" {
	local all chapter filters filter checked=0

	for chapter in [0-9][0-9]_*; do
		mapfile -t filters < <(awk '/^\| filter \| shows \|$/ { table = 1; next }
			!/^\|/ { table = 0 }
			table && split($0, part, "`") > 1 { print part[2] }' \
			"$chapter"/*.md)
		# Once for all of them: one that is none spoils it.
		printf -v all ' || (%s)' "${filters[@]}"
		echo "$chapter: $all"
		[[ ${#filters[@]} -eq 0 ]] || filtered "$chapter" "${all# || }" >/dev/null
		for filter in "${filters[@]}"; do
			[[ $filter != *0x* || $(filtered "$chapter" "$filter") ]] || {
				echo "$chapter: finds nothing: $filter"
				return 1
			}
			checked=$((checked + 1))
		done
	done
	((checked >= 15))
}
