#!/usr/bin/env bats
#
# docs/concepts.md and docs/glossary.md have what they promise, and the pictures
# of docs/ can be seen on a dark screen and on a small one.

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

@test "every picture is shown, in the dark theme as well, and not too wide for a phone" {
	local picture width

	for picture in docs/*.svg docs/pictures/*.svg; do
		echo "$picture"
		grep -q "](\(\(../\)\?docs/\)\?${picture#docs/})" README.md docs/*.md \
			[0-9][0-9]_*/README.md
		# That of a terminal is dark by itself.
		[[ $picture != */demo.svg ]] || continue
		grep -q 'prefers-color-scheme: dark' "$picture"
		# The packet's fields are a table, and as wide as that; so are the
		# states, with what each step between them must be given.
		[[ $picture != */wire_frame.svg &&
			$picture != */qp_state_machine.svg ]] || continue
		width=$(grep -oPm1 'viewBox="0 0 \K[0-9]+' "$picture")
		[ "$width" -le 820 ]
	done
}

@test "each concept has a sentence, a picture above it and a line of code" {
	local concept concepts=(Device Context Port GID 'Protection domain'
		'Memory region' 'Queue pair' 'Completion queue'
		'Completion channel' 'Work request' 'Work completion'
		'Scatter/gather element' lkey rkey 'Two-sided' 'One-sided' RC
		'Packet sequence number' 'Path MTU' 'Zero-copy')

	for concept in "${concepts[@]}" UC UD 'Kernel bypass'; do
		echo "$concept"
		awk -v word="**$concept" '/^!\[/ { shown = 1 }
			index($0, word) { found = shown }
			END { exit !found }' docs/concepts.md
	done
	for concept in "${concepts[@]}"; do
		echo "$concept"
		# Up to the next concept, or picture.
		awk -v word="**$concept" 'index($0, word) { on = 1; print; next }
			/^(\*\*|!\[|#)/ { on = 0 }
			on' docs/concepts.md | grep -q '\.c#L'
	done
}

@test "the glossary is in alphabetical order, each word once" {
	local words

	words=$(sed -n '/^|---/,$p' docs/glossary.md | tail -n +2 |
		sed 's/^| \([^|]*\) |.*/\1/' | tr -d '`' | tr '[:upper:]' '[:lower:]')
	[ "$(wc -l <<<"$words")" -gt 100 ]
	diff <(echo "$words") <(LC_ALL=C sort -u <<<"$words")
}
