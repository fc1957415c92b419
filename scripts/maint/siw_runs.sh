#!/usr/bin/env bash
# siw_runs.sh - the logged runs over siw, of the chapters that run there
#
# usage: scripts/maint/siw_runs.sh [--record] [CHAPTER...]
#
# Runs on two nodes of the lab, with siw, what CHAPTER/expected has, except for writes
# with immediate data, which iWARP lacks. Both ends must say what they say over rxe or,
# where that cannot be, what CHAPTER/expected/siw has for the run. --record records that
# again.
#
# The server is given its address, without which it would listen on the IPv6
# wildcard, where siw takes no client that comes by IPv4.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh

cli_help "$@"
record=no
if [[ ${1:-} == --record ]]; then
	record=yes
	shift
fi
mapfile -t all < <(chapters_where 'devices ~ /siw/')
[[ $# -gt 0 ]] || set -- "${all[@]}"
cli_chapters "$@"
for chapter in "${chapters[@]}"; do
	[[ " ${all[*]} " == *" $chapter "* ]] ||
		cli_misuse "$chapter does not run over iWARP"
done
cli_checked
export LAB_DEVICE=siw DEVICE=lab
out=build/siw

# not_here COMMANDS: whether iWARP has not what they ask for; or, as first.c of 08, they wait for a
# client's end, of which that server is not told over siw.
not_here() {
	grep -qE '^client: .* write /|^client1: \.\./01_send_recv/first' "$1"
}

# run CHAPTER CASE: what both ends say, in $out/run.
run() {
	mkdir -p "$out"
	sed -E 's#^(server: .*(\./server|bench/bench)) -#\1 -a 192.0.2.1 -#' \
		"$1/expected/$2/commands" >"$out/commands"
	scripts/pair.sh -n 2 -d "$out/$1.plain" "$out/commands" "$out/run"
}

# compare CHAPTER CASE, whose run is in $out/run.
compare() {
	local folder=$1/expected/$2 siw=$1/expected/siw/$2

	if [[ -d $siw && $record == yes ]]; then
		rm -f "$siw"/*.log
		cp "$out"/run/*.log "$siw"
	fi
	[[ ! -d $siw ]] || folder=$siw
	scripts/compare_logs.sh "$out/run" "$folder"
}

status=0
for chapter in "${chapters[@]}"; do
	dir=$out/$chapter.plain
	chapter_update "$chapter" "$dir"
	make -s -C "$dir" CFLAGS='-O2 -g -Werror'
	for commands in "$chapter"/expected/*/commands; do
		name=$(basename "$(dirname "$commands")")
		not_here "$commands" && continue
		run "$chapter" "$name"
		said=$(compare "$chapter" "$name") || status=1
		echo "$chapter $name: $said"
	done
done
exit "$status"
