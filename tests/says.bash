# says.bash - what a program has said; and a copy of the tree
# shellcheck shell=bash
# shellcheck disable=SC2154 # output: set by bats

# says TEXT...: the output of the last run has each of them, in this order.
says() {
	local rest=$output text

	for text; do
		[[ $rest == *"$text"* ]] || {
			printf 'not said (in this order): %s\nsaid:\n%s\n' \
				"$text" "$output"
			return 1
		}
		rest=${rest#*"$text"}
	done
}

# silent_on TEXT: and it does not have this.
silent_on() {
	[[ $output != *"$1"* ]] || {
		printf 'said, but should not be: %s\n%s\n' "$1" "$output"
		return 1
	}
}

# copy_tree DIR: what git would commit of this repository, with uncommitted changes and
# all. No loop of bash's: bats follows each of its commands, and these are thousands.
copy_tree() {
	(cd "$BATS_TEST_DIRNAME/.." && git ls-files -coz --exclude-standard |
		perl -0ne 'chomp; print "$_\0" if -f || -l' |
		xargs -0 cp -pd --parents -t "$1")
}
