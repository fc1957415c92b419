#!/usr/bin/env bash
# build.sh - the book as pages, with the lab in them
#
# usage: web/build.sh [--pages]     (make web)
#
# Makes build/web: static files with relative links. --pages leaves the lab out,
# whose kernel takes some minutes and whose programs are built for i386. What was
# built before and has not changed is kept in build/web.parts; the kernel, in
# ~/.cache/rdma-web, where `make clean` leaves it.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/apt.sh
source "$top/scripts/lib/apt.sh"
cli_help "$@"
pages=no
case ${1:-} in
'') ;;
--pages) pages=yes ;;
*) cli_misuse "$1: there is no such option" ;;
esac
cli_checked

parts=$top/build/web.parts
kernel=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-web/kernel
mkdir -p "$parts/out"

# The libraries, exactly those that package-lock.json names, by their hashes.
libraries() {
	local digest

	digest=$(sha256sum <"$top/web/package-lock.json")
	[[ -d $top/web/node_modules &&
		$(cat "$parts/libraries" 2>/dev/null) == "$digest" ]] && return
	(cd "$top/web" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	echo "$digest" >"$parts/libraries"
}

# The picture of the memory, from which the nodes start.
picture() {
	local digest

	digest=$(cat "$kernel/digest" "$parts/rootfs/digest" "$top/web/package-lock.json" \
		"$top/web/rootfs/snapshot.mjs" "$top/web/page/machine_options.js" |
		sha256sum)
	[[ -e $parts/out/state.zst &&
		$(cat "$parts/picture" 2>/dev/null) == "$digest" ]] && return
	node "$top/web/rootfs/snapshot.mjs" "$top/web/node_modules/v86/build" \
		"$kernel/bzImage" "$parts/rootfs/initrd.gz" "$parts/state"
	zstd -q -19 -f "$parts/state" -o "$parts/out/state.zst"
	mv "$parts/state.json" "$parts/out/state.json"
	rm "$parts/state"
	echo "$digest" >"$parts/picture"
}

# What the lab's parts are, and their licences, for the page that names them.
inside() {
	local docs=$parts/rootfs/sysroot/usr/share/doc name linux file

	linux=$(apt-get --print-uris download linux-source-6.1 | cut -d ' ' -f 2)
	{
		cat "$parts/rootfs/versions"
		echo "${linux%_all.deb}_linux" | tr _ ' '
		dpkg-query -W -f '${Package} ${Version} ${source:Package} ${source:Version}\n' \
			seabios
	} >"$parts/out/versions"
	mkdir -p "$parts/out/copyright"
	while read -r name _; do
		file=$docs/$name/copyright
		# A package may point at the one that it was built with.
		[[ -e $file ]] || file=/usr/share/doc/$(readlink "$docs/$name")/copyright
		cp "$file" "$parts/out/copyright/$name"
	done <"$parts/rootfs/versions"
	cp /usr/share/doc/seabios/copyright "$parts/out/copyright/seabios"
	cp /usr/share/common-licenses/GPL-2 "$parts/out/copyright/${linux%%_*}"
}

libraries
if [[ $pages == yes ]]; then
	exec node "$top/web/site/build.mjs" "$top/build/web"
fi
[[ $(uname -m) == x86_64 ]] || {
	echo "web: the lab is built on x86_64 only; --pages leaves it out" >&2
	exit 1
}
debian12 i386 "$parts/apt"
"$top/scripts/lib/kernel/build.sh" page "$kernel"
"$top/web/rootfs/build.sh" "$parts/rootfs"
"$top/web/rootfs/programs.sh" "$parts/rootfs" "$parts/out"
inside
picture
exec node "$top/web/site/build.mjs" "$top/build/web" "$parts/out"
