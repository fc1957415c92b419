# apt.sh - Debian 12, to fetch packages from
#
# To be sourced. It needs no root, leaves this machine's architectures alone and
# knows nothing of what is installed, so that the nodes in the page are the same
# whatever release they are built on.
# shellcheck shell=bash

# debian12 ARCHITECTURE DIR: from here on, apt-get means that one, and keeps its
# lists in DIR. What was made already is used again.
debian12() {
	local architecture=$1 dir=$2 said mirror=http://deb.debian.org

	[[ ${DEBIAN12:-} != "$architecture" ]] || return 0
	mkdir -p "$dir"/{lists/partial,cache/archives/partial}
	: >"$dir/status"
	cat >"$dir/apt.conf" <<-END
		APT::Architecture "$architecture";
		APT::Architectures { "$architecture"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Dir::State "$dir";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		Dir::Etc::Parts "/dev/null";
	END
	# Debian 12 may know a mirror nearby; another release does not.
	if ! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release; then
		cat >"$dir/sources.list" <<-END
			deb $mirror/debian bookworm main
			deb $mirror/debian-security bookworm-security main
		END
		cat >>"$dir/apt.conf" <<-END
			Dir::Etc::SourceList "$dir/sources.list";
			Dir::Etc::SourceParts "/dev/null";
		END
	fi
	export DEBIAN12=$architecture APT_CONFIG=$dir/apt.conf
	if ! said=$(apt-get -q update 2>&1); then
		# A list that this architecture lacks does not matter, if every
		# package is found.
		echo "web: apt-get update: ${said##*$'\n'}" >&2
	fi
}
