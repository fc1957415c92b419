#!/usr/bin/env bash
# debian.sh - run a command of this repository in a fresh, minimal Debian
#
# usage: scripts/maint/debian.sh SUITE COMMAND [ARGUMENT...]
#
# SUITE is the name of a release: bookworm (12), trixie (13). It is bootstrapped into
# build/debian/SUITE, with only git and make, and gets a clone of the last commit in
# /repo. COMMAND runs there, in German, so that nothing depends on the words of other
# programs. Its files remain in that folder; its mounts and processes end with it. It
# needs root and debootstrap.
#
#   scripts/maint/debian.sh trixie make demo
#   scripts/maint/debian.sh bookworm make check
#
# Exit status: that of COMMAND, 1 it could not run, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
case ${1:-} in
-h | --help) cli_help "$1" ;;
esac
[[ $# -ge 2 && $1 != -* ]] || cli_misuse "SUITE and COMMAND must be given"
suite=$1 root=$top/build/debian/$1
mirror=http://deb.debian.org
shift

complain() {
	echo "debian: $1" >&2
	exit 1
}

[[ $(id -u) -eq 0 ]] || complain "only root can do this"
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null ||
	complain "debootstrap is not installed: apt-get install debootstrap"

rm -rf "$root"
mkdir -p "$root" "$top/build/debian/packages"
debootstrap --variant=minbase --include=git,locales,make \
	--cache-dir="$top/build/debian/packages" "$suite" "$root" \
	$mirror/debian >"$root.log" 2>&1 ||
	complain "debootstrap failed: $(tail -n 1 "$root.log")"
# As Debian's installer has it.
echo "deb $mirror/debian-security $suite-security main" \
	>>"$root/etc/apt/sources.list"
# Those of debootstrap know nothing of that.
rm -rf "$root"/var/lib/apt/lists/*
git clone -q --no-hardlinks "$top" "$root/repo"
# Behind a proxy that signs what it passes on, npm trusts it as it does here.
ca=
if [[ -r ${NODE_EXTRA_CA_CERTS:-} ]]; then
	ca=NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem
	cp "$NODE_EXTRA_CA_CERTS" "$root/etc/extra-ca.pem"
fi

# The names and processes in there are its own, and end with the command.
# shellcheck disable=SC2016 # for the shell in there
exec unshare --mount --pid --fork --kill-child bash -euc '
	root=$1 ca=$2
	shift 2
	# The lab asks for a root that is a mount point.
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	chroot "$root" localedef -i de_DE -f UTF-8 de_DE.UTF-8
	exec chroot "$root" env -i HOME=/root TERM=dumb LANG=de_DE.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		${ca:+"$ca"} bash -euc "cd /repo && exec \"\$@\"" bash "$@"
' bash "$root" "$ca" "$@"
