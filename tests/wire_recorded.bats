#!/usr/bin/env bats
#
# wire_recorded.bats - the recorded pictures and captures of what crossed the wire
# shellcheck disable=SC2154 # top: set by helpers.bash

load helpers

setup() {
	cd "$top" || return
}

# bats test_tags=chapters
@test "wire: what is recorded is small, and linked from the chapter's text" {
	local folder name captures=([0-9][0-9]_*/expected/wire.pcapng)

	[[ ${#captures[@]} -ge 7 ]]
	for folder in "${captures[@]%/*}"; do
		[[ $(stat -c %s "$folder/wire.svg") -lt 200000 ]]
		[[ $(stat -c %s "$folder/wire.pcapng") -lt 50000 ]]
		grep -q 'prefers-color-scheme: dark' "$folder/wire.svg"
		for name in svg pcapng; do
			grep -hq "](expected/wire.$name)" "$folder"/../*.md
		done
	done
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
