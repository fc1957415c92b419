# says.bash - whether a program has said something
# shellcheck shell=bash
# shellcheck disable=SC2154 # output: set by bats

# says TEXT...: each of them, in this order.
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
