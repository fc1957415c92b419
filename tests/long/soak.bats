#!/usr/bin/env bats
#
# soak.bats - one server, a thousand clients one after another, chapter by
# chapter: nothing may grow, and nobody may be turned away
# (SOAK_CLIENTS overrides the number)
# shellcheck disable=SC2154 # set by on_device()

load ../helpers

setup_file() {
	open_device
}

# soak N SERVER_ARGUMENTS… -- CLIENT_ARGUMENTS…
soak() {
	local i before after memory total=$1
	local -a of_server=() of_client

	shift
	while [[ $1 != -- ]]; do
		of_server+=("$1")
		shift
	done
	shift
	of_client=("$@")
	start_server ./server "${of_server[@]}"
	for ((i = 1; i <= total; i++)); do
		./client -a "$address" "${of_client[@]}" >"$scratch/client.log" \
			2>"$scratch/client.err" || fail "client $i"
		[[ $i -eq 20 ]] || continue
		await "an idle server" server_is_done
		await "a server without a queue pair" no_queue_pair
		before=$(objects_of_server) memory=$(memory_of_server)
	done
	await "an idle server" server_is_done
	soon objects_are "$before" ||
		fail "after 20 clients: $before; after $total: $after"
	memory=$(($(memory_of_server) - memory))
	[[ $memory -lt 512 ]] || fail "it uses $memory kB more"
	left_early "$total"
	says_nothing other.err
	stop_server
	echo "$total clients; memory +$memory kB; left before they acknowledged: $left"
}

# In 01 and 02 a client may leave before its device has acknowledged what it
# has (docs/troubleshooting.md#status-5): at most one in a hundred.
left_early() {
	local said='^error: send\( of MSG_DONE\)\?: status 5 (Work Request Flushed Error)'

	left=$(grep -c "$said" "$scratch/server.err" || true)
	[[ $left -le $(($1 / 100)) ]] || fail "$left clients of $1 left early"
	sed "/$said/d" "$scratch/server.err" >"$scratch/other.err"
}

# soak_chapter CHAPTER SERVER_ARGUMENTS… -- CLIENT_ARGUMENTS…
soak_chapter() {
	local plain=$top/build/tests/$1.plain

	CHAPTER=$1
	shift
	# Where both sides show who they are, make makes them something to show.
	mkdir -p "$plain"
	[[ ! -x $top/$CHAPTER/certs.sh ]] ||
		cp "$top/$CHAPTER/certs.sh" "$plain"
	build_chapter "$CHAPTER"
	# All that it says is in the report of a failure.
	set -o pipefail
	FUNCTIONS='left_early' LIMIT=3600 \
		on_device a soak "${SOAK_CLIENTS:-1000}" "$@" |
		tee "$BATS_TEST_TMPDIR/said"
	echo "# $(tail -n 1 "$BATS_TEST_TMPDIR/said")" >&3
}

@test "01: a thousand clients" {
	soak_chapter 01_send_recv --
}

@test "02: a thousand clients that write" {
	soak_chapter 02_write_read write -- write
}

@test "02: a thousand clients that read" {
	soak_chapter 02_write_read read -- read
}

@test "03: a thousand clients" {
	soak_chapter 03_pure_verbs write -- write
}

@test "04: a thousand clients" {
	soak_chapter 04_tls_psn write -- write
}
