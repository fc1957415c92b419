#!/usr/bin/env bats
#
# What docs/ says of the code is so: the map of calls, the links to lines. On a
# small tree of its own, each kind of untruth is found.

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	source scripts/lib/chapter.sh
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE/01_one" "$TREE/02_two" "$TREE/docs"
	touch "$TREE"/{01_one,02_two}/{Makefile,README.md}
	printf '%s\t%s\trxe\t1\trun\tone concept\n' 01_one - 02_two 01 >"$TREE/chapters.tsv"
}

# shellcheck disable=SC2120 # mostly without
map() {
	scripts/maint/api_map.py -r "$TREE" "$@"
}

# has TEXT: the map of the small tree has it.
has() {
	grep -qF "$1" "$TREE/docs/api_map.md" || {
		echo "not in the map: $1"
		cat "$TREE/docs/api_map.md"
		return 1
	}
}

# bats test_tags=chapters
@test "the map of calls is as the code is" {
	run -0 scripts/maint/api_map.py --check
	says 'as the code is'
	[ "$(grep -c '^| `ibv_' docs/api_map.md)" -gt 20 ]
	[ "$(grep -c '^| `SSL_' docs/api_map.md)" -gt 20 ]
}

@test "each man page in the map exists, as far as man pages are installed" {
	local call section seen=0

	compgen -G '/usr/share/man/man3/ibv_post_send.3*' ||
		skip "the packages' man pages are not installed"
	while IFS='()' read -r call section; do
		compgen -G "/usr/share/man/man$section/$call.$section*" || {
			echo "no man page $call(3)"
			return 1
		}
		seen=$((seen + 1))
	done < <(grep -oE '`(ibv|rdma)_[a-z0-9_]+\(3\)`' docs/api_map.md |
		tr -d '`')
	[ "$seen" -gt 40 ]
}

@test "a call is mapped to the file that is to be read first" {
	printf '%s\n' '/* ibv_open(x) */' 'char *s = "ibv_open(";' \
		'int f(void) { return ibv_open(1); }' >"$TREE/01_one/a.c"
	printf '%s\n' 'int g(void) { return ibv_open(2); }' >"$TREE/01_one/b.c"
	map
	has '| `ibv_open` | [01_one/a.c:3](../01_one/a.c#L3) | 01 | `ibv_open(3)` |'
	printf '%s\n' '## The files, in reading order' '`b.c`, `a.[ch]`' \
		'## Other' '`a.c`' >"$TREE/01_one/README.md"
	cp "$TREE/01_one/a.c" "$TREE/02_two"
	map
	has '| `ibv_open` | [01_one/b.c:1](../01_one/b.c#L1) | 01, 02 |'
}

@test "names that a chapter defines are none of a library, and sockets only where RDS is" {
	printf '%s\n' 'static int rdma_own(int x)' '{ return rdma_own(x); }' \
		'int f(void) { return bind(1) + s.ibv_op(2) + SSL_OP; }' \
		>"$TREE/01_one/a.c"
	map
	run -1 grep -E '^\| .*(own|bind|ibv_op|SSL)' "$TREE/docs/api_map.md"
	printf '#include <linux/rds.h>\nint i = bind(1);\n' >"$TREE/02_two/r.c"
	map
	has '| `bind` | [02_two/r.c:2](../02_two/r.c#L2) | 02 | `bind(2)` |'
}

@test "a map that is not up to date is found" {
	echo 'int i = ibv_one();' >"$TREE/01_one/a.c"
	run -1 map --check
	says 'has not: | `ibv_one`'
	map
	run -0 map --check
	echo 'int i; int j = ibv_two();' >"$TREE/01_one/a.c"
	run -1 map --check
	says 'has not: | `ibv_two`'
	says 'still has: | `ibv_one`'
	run -2 map --nonsense
}

links() {
	scripts/maint/code_links.py -r "$TREE" "$@"
}

# bats test_tags=chapters
@test "the links of this repository lead to the lines that were meant" {
	run -0 scripts/maint/code_links.py
	grep -rq --include='*.md' '#L[0-9]* "' docs
}

@test "a link to another line than was meant is found and put right" {
	printf '%s\n' 'one();' 'two();' 'three();' >"$TREE/01_one/a.c"
	echo '[a.c:2](../01_one/a.c#L2 "two()")' >"$TREE/docs/x.md"
	run -0 links
	sed -i '1i zero();' "$TREE/01_one/a.c"
	run -1 links
	says 'docs/x.md: ../01_one/a.c#L2: "two()" is in line 3'
	run -0 links --write
	[ "$(<"$TREE/docs/x.md")" = '[a.c:3](../01_one/a.c#L3 "two()")' ]
	sed -i 's/two/four/' "$TREE/01_one/a.c"
	run -1 links --write
	says 'no line has "two()"'
	echo '[a](../01_one/a.c#L2)' >"$TREE/docs/x.md"
	run -1 links
	says 'the title does not say what the line has'
	echo '[a](../01_one/b.c#L2 "x")' >"$TREE/docs/x.md"
	run -1 links
	says 'no such file'
	run -2 links --nonsense
}

door() {
	scripts/maint/front_door.py -r "$TREE" "$@"
}

# bats test_tags=chapters
@test "the front door shows the recorded demo and the true sizes" {
	run -0 scripts/maint/front_door.py --check
	grep -q 'class="good">matches' docs/pictures/demo.svg
	[ "$(grep -cE '^\| \[0.* \| \+[0-9]+ −[0-9]+ \|$' README.md)" -ge 5 ]
}

@test "another recording, another size and a chapter without a row are found" {
	printf 'chapter what logs\n01_one a matches 1 s\n02_two b DIFFERS 1 s\n' \
		>"$TREE/docs/demo.txt"
	printf 'int a;\nint b;\n' >"$TREE/01_one/a.c"
	cp "$TREE/01_one/a.c" "$TREE/02_two"
	echo 'int c;' >>"$TREE/02_two/a.c"
	printf '%s\n' '| chapter | x |' '|---|---|' '| old |' '' '| other |' >"$TREE/README.md"
	run -1 door --check
	says 'README.md is not up to date'
	says 'demo.svg is not up to date'
	run -0 door
	diff - "$TREE/README.md" <<-'END'
	| chapter | x |
	|---|---|
	| [01_one](01_one/README.md) | one concept | 2 lines |
	| [02_two](02_two/README.md) | one concept | +1 −0 |

	| other |
	END
	grep -qF '2 runs, of which 1 match' "$TREE/docs/pictures/demo.svg"
	grep -qF 'class="bad">DIFFERS' "$TREE/docs/pictures/demo.svg"
	run -0 door --check
	echo 'int d;' >>"$TREE/02_two/a.c"
	run -1 door --check
	says 'README.md is not up to date'
	sed -i 2d "$TREE/chapters.tsv"
	run -1 door
	says '02_two needs a row in chapters.tsv'
	printf '03_three\t02\n' >>"$TREE/chapters.tsv"
	run -1 door
	says '03_three needs a row in chapters.tsv, and a folder'
}

@test "the lines of a chapter's files are found, rounded to tens" {
	local page=$TREE/01_one/README.md

	touch "$TREE/docs/demo.txt" "$TREE/README.md"
	seq 14 >"$TREE/01_one/a.c"
	seq 15 >"$TREE/01_one/b.c"
	seq 16 >"$TREE/01_one/b.h"
	printf '%s\n' '## The files, in reading order' '' \
		'| `a.c`, `b.c` | 30, 10 | two |' '| `b.[ch]` | 0 | both |' \
		'| `a.c` | | none |' '## Next' '| `a.c` | 7 | no table of files |' \
		>"$page"
	run -1 door --check
	says '01_one/README.md is not up to date'
	run -0 door
	[ "$(grep -c '^|' "$page")" -eq 4 ]
	grep -qxF '| `a.c`, `b.c` | 10, 20 | two |' "$page"
	grep -qxF '| `b.[ch]` | 30 | both |' "$page"
	grep -qxF '| `a.c` | | none |' "$page"
	grep -qxF '| `a.c` | 7 | no table of files |' "$page"
	run -0 door --check
	# The table may be in reference.md.
	sed 's/10, 20/7, 7/' "$page" >"$TREE/01_one/reference.md"
	run -1 door --check
	says '01_one/reference.md is not up to date'
	run -0 door
	cmp "$page" "$TREE/01_one/reference.md"
}

tables() {
	scripts/maint/break_tables.py -r "$TREE" "$@"
}

# broken_case NAME QUESTION: a case of 01_one with a story.
broken_case() {
	mkdir -p "$TREE/01_one/break/$1"
	: >"$TREE/01_one/break/$1/commands"
	printf '# %s\n\n> %s\n\nIt fails.\n\n**Remember:** it does.\n' "$1" "$2" \
		>"$TREE/01_one/break/$1/README.md"
}

# bats test_tags=chapters
@test "what can be broken is in each chapter's README, as it asks" {
	run -0 scripts/maint/break_tables.py
	grep -q '^| \[no_recv\](break/no_recv/README.md) | .*? | `make break CH=01 CASE=no_recv` |$' \
		01_send_recv/reference.md
}

@test "a table of cases that is not as they are is found and put right" {
	local page=$TREE/01_one/README.md

	printf '%s\n' '# One' '| case | what it asks | the command |' \
		'|---|---|---|' After >"$page"
	broken_case late $'Who is\n> late?'
	broken_case early 'Who comes early?'
	run -1 tables
	says '01_one/README.md: the table of cases is not as their READMEs are'
	run -0 tables --write
	[ "$(sed -n 4,6p "$page")" = '| [early](break/early/README.md) | Who comes early? | `make break CH=01 CASE=early` |
| [late](break/late/README.md) | Who is late? | `make break CH=01 CASE=late` |
After' ]
	run -0 tables
	# The order is the author's, and new cases come last.
	sed -i '4{h;d};5G' "$page"
	run -0 tables
	broken_case a_third 'And then?'
	run -0 tables --write
	[ "$(grep -o 'CASE=[a-z_]*' "$page" | xargs)" = \
		'CASE=late CASE=early CASE=a_third' ]
	rm -r "$TREE/01_one/break/late"
	run -1 tables
	echo '# One' >"$page"
	run -1 tables --write
	says '01_one/README.md has no such table'
}

@test "a case without a question, a story or what runs it is found" {
	local page=$TREE/01_one/README.md case=$TREE/01_one/break/odd

	printf '%s\n' '| case | what it asks | the command |' '|---|---|---|' >"$page"
	broken_case odd 'It fails'
	run -1 tables --write
	says 'break/odd README.md: what it asks is no question: It fails'
	broken_case odd 'Why?'
	sed -i 's/^# odd/# even/' "$case/README.md"
	run -1 tables --write
	says 'README.md does not begin with the heading "# odd"'
	broken_case odd 'Why?'
	sed -i '/Remember/d' "$case/README.md"
	run -1 tables --write
	says 'no paragraph begins with **Remember:**'
	broken_case odd 'Why?'
	rm "$case/commands"
	run -1 tables
	says 'break/odd has no commands'
	run -2 tables --nonsense
}

patches() {
	scripts/maint/refresh_patches.py -r "$TREE" "$@"
}

@test "the patches of breaks and exercises stand where the code is" {
	run -0 scripts/maint/refresh_patches.py
	[ -z "$output" ]
}

# A break, a solution, a wrong one on top of it, and one in a check, of a chapter
# whose file has lines more than they know of, and others beside the change.
@test "a patch at an offset or with other context is found and put right" {
	local one=$TREE/01_one wrong=$TREE/tests/wrong/01_one/ex after

	mkdir -p "$one"/{break/case,exercises} "$wrong"
	printf '%s\n' a b c d e f >"$one/x.c"
	printf '%s\n' '--- a/x.c' '+++ b/x.c' '@@ -3,3 +3,3 @@' ' c' '-d' +D ' e' |
		tee "$one/break/case/patch" >"$one/exercises/ex.patch"
	printf '%s\n' 'Wrong: x' '--- a/x.c' '+++ b/x.c' '@@ -4,3 +4,3 @@' ' D' \
		'-e' +E ' f' >"$wrong/on_top.patch"
	printf '%s\n' "peer p client <<'END_PATCH'" "$(tail -n +2 "$wrong/on_top.patch")" \
		END_PATCH 'run p' >"$one/exercises/ex.sh"
	printf '%s\n' 'Wrong: x' 'On: chapter' "$(<"$one/break/case/patch")" \
		>"$wrong/instead.patch"
	run -0 patches
	printf '%s\n' new a B c d e f >"$one/x.c"
	run -1 patches
	says '01_one/break/case/patch: the code has moved on: run make docs'
	says '01_one/exercises/ex.sh: the'
	says 'tests/wrong/01_one/ex/instead.patch: the'
	[ "${#lines[@]}" -eq 5 ]
	run -0 patches --write
	run -0 patches
	[ -z "$output" ]
	after=$(patch -F0 -p1 -o - "$one/x.c" "$one/break/case/patch")
	[[ $after == *$'new\na\nB\nc\nD\ne\nf'* && $after != *offset* ]]
	[ "$(sed -n '1p;$p' "$one/exercises/ex.sh")" = "peer p client <<'END_PATCH'"$'\nrun p' ]
	[ "$(head -n 1 "$wrong/on_top.patch")" = 'Wrong: x' ]
	# Other context, and no place at all.
	sed -i 's/c/C/; s/e$/other/' "$one/x.c"
	run -1 patches --write
	says 'ex/on_top.patch: does not apply: change it by hand'
	run -1 patches
	[[ $output != *case/patch* ]]
}

@test "every picture is well-formed, and says in words what it shows" {
	/usr/bin/python3 -S -c 'import sys, xml.dom.minidom as x
for name in sys.argv[1:]:
	root = x.parse(name).documentElement
	if root.tagName != "svg" or not root.getAttribute("aria-label"):
		sys.exit(f"{name}: no picture, or without words")' docs/*.svg docs/pictures/*.svg
}

@test "what setup_rxe.sh points at is in docs/troubleshooting.md" {
	local name names

	mapfile -t names < <(sed -n '/^declare -A entry/,/^)/p' \
		scripts/lib/rxe/check.sh | grep -oE '=[a-z0-9-]+' | tr -d =)
	[ ${#names[@]} -ge 5 ]
	for name in "${names[@]}"; do
		grep -qF "<a id=\"$name\"></a>" docs/troubleshooting.md
	done
}

# bats test_tags=chapters
@test "the chapters have the same sections, in the same order" {
	local chapter page due

	printf -v due '## %s\n' 'What you will learn' 'Words first' \
		'The conversation' 'The files, in reading order' \
		'The code, piece by piece' 'What may come in either order' \
		'Break it' 'Questions' 'Options' 'Exercises' 'Where next'
	for chapter in $(chapters_where 'shown != "send"'); do
		# What else a chapter has may stand between them. Each of them is
		# either in README.md or in reference.md, if there is one.
		: >"$BATS_TEST_TMPDIR/all"
		for page in "$chapter"/README.md "$chapter"/reference.md; do
			[ -f "$page" ] || continue
			echo "$page"
			grep -Fx "${due%$'\n'}" "$page" >"$BATS_TEST_TMPDIR/here"
			diff <(grep -Fxf "$BATS_TEST_TMPDIR/here" <<<"${due%$'\n'}") \
				"$BATS_TEST_TMPDIR/here"
			cat "$BATS_TEST_TMPDIR/here" >>"$BATS_TEST_TMPDIR/all"
		done
		# A chapter that begins with first.c may tell these under other headings.
		[[ ! -f $chapter/first.c ]] || printf '## %s\n' 'What you will learn' \
			'The code, piece by piece' >>"$BATS_TEST_TMPDIR/all"
		[[ -d $chapter/exercises ]] || echo '## Exercises' >>"$BATS_TEST_TMPDIR/all"
		diff <(sort <<<"${due%$'\n'}") <(sort -u "$BATS_TEST_TMPDIR/all")
	done
}

@test "01 to 05 are run first: the commands and what they print, in 60 lines" {
	local readme first up='(cd [0-9]+_[a-z_]+ && \.\./)?'

	for readme in $(chapters_where 'devices != "rds" && shown != "send"' 'chapter "/README.md"'); do
		echo "$readme"
		first=$(head -n 60 "$readme")
		grep -q 'minutes to read' <<<"$first"
		grep -qE 'seconds( to run)?[,.]' <<<"$first"
		grep -q '^make -C .* && scripts/lab.sh up' <<<"$first"
		grep -qE "^${up}scripts/lab.sh exec a -- .*/(server -[1e]|first)" \
			<<<"$first"
		grep -qE "^${up}scripts/lab.sh exec b -- .*/((client|load) .*-a|first) 192.0.2.1" \
			<<<"$first"
		# Recorded lines, ten of them or more.
		[ "$(sed -n '/^```text log=/,/^```$/{/^```/d;p}' <<<"$first" |
			wc -l)" -ge 10 ]
	done
}

# bats test_tags=chapters
@test "every error that a chapter shows has an entry in docs/troubleshooting.md" {
	local table=$BATS_TEST_TMPDIR/table

	sort -u [0-9][0-9]_*/break/*/*.err | sed 's/^/*\t-\t/' >"$table"
	[ "$(wc -l <"$table")" -gt 20 ]
	run -0 tests/explain_lines.py "$table"
	says ', 0 wrong, 0 none'
	run -0 scripts/explain.py "$(head -n 1 "$table")"
	says 'docs/troubleshooting.md#'
	says '**Cause.**'
	says '**Fix.**'
}

# bats test_tags=chapters
@test "an error that names its entry names one that there is, and that is for it" {
	local name names table=$BATS_TEST_TMPDIR/table

	mapfile -t names < <(grep -hoE '\[docs/troubleshooting\.md#[a-z0-9-]+\]' \
		[0-9][0-9]_*/{,carried/,plumbing/}*.c | sed 's/.*#//; s/\]//' | sort -u)
	[ ${#names[@]} -gt 20 ]
	for name in "${names[@]}"; do
		echo "$name"
		grep -qF "<a id=\"$name\"></a>" docs/troubleshooting.md
	done
	# And each entry for a message of the programs is named by one.
	while IFS= read -r name; do
		echo "$name"
		[[ " ${names[*]} " == *" $name "* ]]
	done < <(grep -B 2 -E '^### (error:|status )' docs/troubleshooting.md |
		sed -n 's/^<a id="\(.*\)"><.*/\1/p')
	# By its words alone a line is led to the same entry, or to one that is more exact.
	grep -hF '[docs/troubleshooting.md#' [0-9][0-9]_*/break/*/*.err | sort -u |
		sed -E 's/(.*) (\[docs.*#(.*)\].*)/\3*\t-\t\1\n\3\tcertain\terror: x \2/' \
			>"$table"
	[ "$(grep -c certain "$table")" -gt 20 ]
	run -0 tests/explain_lines.py "$table"
	says ', 0 wrong, 0 none'
}

# bats test_tags=chapters
@test "an error is explained by its own entry, and a flush only if it is alone" {
	local flush='error: receive: status 5 (Work Request Flushed Error): x'

	run -0 scripts/explain.py 'rdma_rxe: failed to add eth0'
	says 'troubleshooting.md#crc32'
	run -0 scripts/explain.py "$flush"
	says 'troubleshooting.md#status-5'
	run -0 scripts/explain.py < <(printf '%s\n' "$flush" \
		'error: send: status 13 (RNR retry counter exceeded): x')
	says "$flush"
	says 'troubleshooting.md#status-13'
	[[ $output != *'#status-5'* ]]
	run -0 scripts/explain.py docs/troubleshooting.md#crc32
	says 'failed to add eth0'
	run -1 --separate-stderr scripts/explain.py 'all is well'
	[ -z "$output" ]
	# shellcheck disable=SC2154 # set by run
	[[ $stderr == *'no entry for this'* ]]
	run -2 scripts/explain.py one two
}
