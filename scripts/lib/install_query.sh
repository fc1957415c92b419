# install_query.sh - what install_deps.sh asks the package manager, which changes
# nothing: what is installed, and how big the rest is
#
# Sourced by install_deps.sh, whose family, missing, total and APT_LISTS it uses.
# shellcheck shell=bash disable=SC2154

# Prints those of the given packages that are installed for this architecture, or
# that another one stands for: nodejs from elsewhere, say, brings npm.
installed_apt() {
	local out rc=0

	# dpkg says which architecture is ours; libssl-dev:i386 would not do.
	out=$(dpkg-query -W -f \
		'${db:Status-Abbrev}|${Package}|${Architecture}|${Provides}\n') || rc=$?
	if ((rc)); then
		complain "dpkg-query failed (exit status $rc), so what is" \
			"installed is unknown. Try: dpkg --audit"
		return 1
	fi
	awk -F'|' -v wanted="$*" '
		$2 == "dpkg" { native = $3 }
		substr($1, 2, 1) == "i" {
			gsub(/ *\([^)]*\)/, "", $4)
			n = split($2 ", " $4, names, ", *")
			for (i = 1; i <= n; i++)
				arch[names[i]] = arch[names[i]] " " $3 " "
		}
		END {
			n = split(wanted, names, " ")
			for (i = 1; i <= n; i++)
				if (index(arch[names[i]], " all ") ||
				    index(arch[names[i]], " " native " "))
					print names[i]
		}' <<<"$out"
}

installed_dnf() {
	# Its status is the number of those missing, each named in a sentence
	# that cannot be taken for a package's name.
	rpm -q --qf '%{NAME}\n' "$@" || true
}

# Without a package database: the commands and files themselves.
installed_none() {
	local probe match

	for probe in "$@"; do
		if [[ $probe != /* ]]; then
			command -v "$probe" >/dev/null && echo "$probe"
			continue
		fi
		# Not quoted: the table gives patterns, some of them two.
		for match in $probe; do
			[[ -e $match ]] || continue
			echo "$probe"
			break
		done
	done
}

# Prints "98.0 MB to fetch, 400 MB on disk": what apt says of the missing packages
# and of those that they need. Fails where nobody knows.
install_size() {
	[[ $family == apt ]] && command -v apt-get >/dev/null || return 1
	compgen -G "$APT_LISTS/*_Packages*" >/dev/null || return 1
	apt-get install --print-uris --no-install-recommends -y \
		-o Debug::NoLocking=1 "${missing[@]}" 2>/dev/null | awk '
		/^Need to get / { fetch = $4 " " $5 }
		/^After this operation, .* will be used/ { disk = $4 " " $5 }
		END {
			sub(/\/.*/, "", fetch)
			if (!fetch)
				exit 1
			print fetch " to fetch" (disk ? ", " disk " on disk" : "")
		}'
}

# All of the missing ones in one line.
print_size() {
	local size unknown='how big, nobody here knows yet'

	[[ $family != apt ]] || unknown+=' (build and lab on a bare Debian 12:'
	[[ $family != apt ]] || unknown+=' 98 MB to fetch, 400 MB on disk)'
	if ((${#missing[@]} == 0)); then
		echo "all $total packages are there"
	else
		size=$(install_size) || size=$unknown
		echo "${#missing[@]} of $total to be installed, $size"
	fi
}
