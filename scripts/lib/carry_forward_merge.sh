# shellcheck shell=bash
# shellcheck disable=SC2154 # version_of and ancestor_of are the other one's
#
# carry_forward_merge.sh - how carry_forward.sh takes what an ancestor has
# learned into the files that were born from it; sourced by it, after
# carry_forward_reborn.sh

: "${root:?is set by carry_forward.sh}"

# old_version CHAPTER/FILE: the ancestor as it was when they were last compared.
old_version() {
	git -C "$root" cat-file blob "${version_of[$1]}" 2>/dev/null
}

# moved CHAPTER/FILE: its ancestor has changed since.
moved() {
	[ -f "$root/${ancestor_of[$1]}" ] &&
		[ "$(version "${ancestor_of[$1]}")" != "${version_of[$1]}" ]
}

say_by_hand() {
	cat >&2 <<-END
	Make the change in $1, or see that it does not belong there; then:
	scripts/maint/carry_forward.sh --reconciled $1
	END
}

no_history() {
	cat >&2 <<-END
	What it was like then, ${version_of[$1]}, is not in this clone. If the
	clone is shallow, git fetch --unshallow brings it. Otherwise
	git log -p -- ${ancestor_of[$1]} may show what has changed.
	END
}

# merge_into CHAPTER/FILE: what its ancestor has learned, if that can be done
# without a question; otherwise the file is left as it is.
merge_into() {
	local path=$1 from=${ancestor_of[$1]} conflicts=0
	local side=$root/build/carry_forward/$1

	moved "$path" || return 0
	mkdir -p "$(dirname "$side")"
	if ! old_version "$path" >"$side.base"; then
		rm -f "$side.base"
		complain "$from has changed, and cannot be merged into $path"
		no_history "$path"
		say_by_hand "$path"
		return
	fi
	git merge-file -p -L "$path" -L "$from, as it was" -L "$from" \
		"$root/$path" "$side.base" "$root/$from" >"$side" ||
		conflicts=$?
	rm -f "$side.base"
	if [ "$conflicts" -ne 0 ]; then
		complain "$from -> $path: a conflict; $path is as it was, and" \
			"the merge with its marks in build/carry_forward/$path"
		say_by_hand "$path"
		return
	fi
	if cmp -s "$side" "$root/$path"; then
		echo "$from -> $path: it has the change already"
	else
		cat "$side" >"$root/$path"
		echo "$from -> $path: merged; read it: git diff $path"
	fi
	reconcile "$path"
}

# looked_at CHAPTER/FILE: complains if nobody has since its ancestor changed.
looked_at() {
	local path=$1 from=${ancestor_of[$1]:-}

	if [ -z "$from" ]; then
		complain "$path is neither a copy nor known to be born again" \
			"from $(likely_ancestor "$path"). If it has all that" \
			"was mended there:"
		cat >&2 <<-END
		scripts/maint/carry_forward.sh --reconciled $path
		If the two have nothing but the name in common:
		scripts/maint/carry_forward.sh --new $path 'WHY'
		END
	elif [ "$from" != new ] && moved "$path"; then
		complain "$from has changed, and nobody has looked at $path," \
			"which was born from it:"
		if old_version "$path" >/dev/null; then
			old_version "$path" |
				diff -u --label "$from, as it was" \
					--label "$from" - "$root/$from" >&2 || :
		else
			no_history "$path"
		fi
		cat >&2 <<-END
		To merge that: scripts/maint/carry_forward.sh ${from#*/}
		If $path has it already, or must not have it:
		scripts/maint/carry_forward.sh --reconciled $path
		END
		waiting+=("$path")
	fi
}

check_reborn() {
	local path line waiting=()

	for line in "${outlived[@]}"; do
		complain "$line"
	done
	while IFS= read -r path; do
		looked_at "$path"
	done < <(reborn_files)
	[ ${#waiting[@]} -lt 2 ] || cat >&2 <<-END
	Once you have looked at all of these, and not before:
	scripts/maint/carry_forward.sh --reconciled ${waiting[*]}
	END
}
