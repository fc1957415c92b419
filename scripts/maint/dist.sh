#!/usr/bin/env bash
# dist.sh - the files of a release, from the last commit
#
# usage: scripts/maint/dist.sh [-o OUT] [TAG]     (make dist)
#
# OUT (default: build/dist) gets, for the version in the file VERSION,
#   rdma-by-example-VERSION.tar.gz          all that is in git, and nothing else
#   rdma-by-example-VERSION-pages.tar.gz    the book as pages, without the lab
#   rdma-lab-kernel-RELEASE-x86_64.tar.gz   the lab's own kernel, its licence, and where its
#                                           source is; to be unpacked in ~/.cache/rdma-lab
#   SHA256SUMS
# Two builds of one commit, with one kernel, are the same byte for byte. With TAG, that must
# be the version's, v4.0. The kernel must have been built (make lab-kernel).
#
# Exit status: 0 done, 1 failed, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
out=$top/build/dist
if [[ ${1:-} == -o && $# -ge 2 ]]; then
	out=$2
	shift 2
fi
version=$(git -C "$top" show HEAD:VERSION)
[[ $# -le 1 && ${1:-} != -* ]] || cli_misuse "one TAG can be given"
[[ ${1:-v$version} == "v$version" ]] || cli_misuse "the tag is $1, and VERSION says $version"
cli_checked

kernel=${LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdma-lab}/uml
name=rdma-by-example-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
date=$(git -C "$top" show -s --format=%ct HEAD)

complain() {
	echo "dist: $1" >&2
	exit 1
}

# pack FILE FOLDER WORD…: what is packed is the same, whoever packs it, when and where.
pack() {
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX \
		--mtime="@$date" --format=ustar -C "$2" -c "${@:3}" | gzip -9n >"$work/out/$1"
}

[[ -x $kernel/linux ]] || complain "the lab's kernel has not been built: make lab-kernel"
mkdir "$work/out" "$work/uml"
git -C "$top" archive --prefix="$name/" HEAD | tar -x -C "$work"
pack "$name.tar.gz" "$work" "$name"

# The pages, of what was packed. npm's libraries are not fetched again.
if [[ -e $top/build/web.parts/libraries ]]; then
	mkdir -p "$work/$name/build/web.parts"
	cp "$top/build/web.parts/libraries" "$work/$name/build/web.parts"
	cp -a "$top/web/node_modules" "$work/$name/web"
fi
"$work/$name/web/build.sh" --pages >&2
mv "$work/$name/build/web" "$work/$name-pages"
pack "$name-pages.tar.gz" "$work" "$name-pages"

# The kernel, and what its licence asks for.
release=$(<"$kernel/release")
source=linux-source-${release%.*}
uri=$(apt-get --print-uris download "$source" | cut -d "'" -f 2)
[[ $uri == *"_${release}-"* ]] ||
	complain "the kernel is $release, and Debian has ${uri##*/} now: make lab-kernel"
cp "$kernel"/{linux,release,digest,modules.*} "$work/uml"
cp /usr/share/common-licenses/GPL-2 "$work/uml/LICENSE"
cat >"$work/uml/SOURCE" <<END
linux is a Linux kernel, $release, under the GNU General Public License, version 2 (LICENSE).
Its source is Debian's package
  $uri
which https://snapshot.debian.org/package/linux/ keeps, with what $name.tar.gz has in
scripts/lib/kernel: lab.config, the patches, and build.sh, which says how it is built.
END
pack "rdma-lab-kernel-$release-x86_64.tar.gz" "$work" uml

(cd "$work/out" && sha256sum -- *.tar.gz >SHA256SUMS)
mkdir -p "$out"
rm -f "$out"/rdma-*.tar.gz
mv "$work"/out/* "$out"
cat "$out/SHA256SUMS"
