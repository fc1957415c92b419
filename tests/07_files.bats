#!/usr/bin/env bats
#
# 07_files.bats - chapter 07: many files, rights that are missing, what a person
# sees who waits; and networks that lose packets, or are away for a while
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_preloaded tests/hostile_07
}

# With few descriptors, so that one that stays open is noticed.
thousand_files() {
	mkdir "$scratch/out" "$scratch/in"
	head -c 1500500 /dev/urandom |
		split -b 1501 -a 3 -d - "$scratch/out/file number "
	ulimit -n 64
	start_server ./server -1 -d "$scratch/in"
	run_client 0 ./client -a "$address" "$1" "$scratch"/out/*
	says_nothing client.err
	end_of server "$server" 0
	server=''
	says_nothing server.err
	diff -r "$scratch/out" "$scratch/in" || fail "they are not the same"
	# What both say of each of them, in order.
	(cd "$scratch/out" && sha256sum -- *) >"$scratch/digests"
	[[ $(wc -l <"$scratch/digests") -eq 1000 ]] || fail "not a thousand"
	sed -n 's/^\(file number [0-9]*\): stored, .* SHA-256 \([0-9a-f]*\)$/\2  \1/p' \
		"$scratch/client.log" | cmp - "$scratch/digests" ||
		fail "the client says something else"
	sed -n 's/^stored: .* SHA-256 //p' "$scratch/server.log" |
		cmp - <(cut -d ' ' -f 1 "$scratch/digests") ||
		fail "the server says something else"
}

@test "07: a thousand small files by send" {
	on_device a thousand_files send
}

@test "07: a thousand small files by write" {
	on_device a thousand_files write
}

@test "07: a thousand small files by read" {
	on_device a thousand_files read
}

# Neither end is root here.
no_rights() {
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups)

	mkdir "$scratch/in" "$scratch/open"
	chmod 755 "$scratch"
	chmod 777 "$scratch/open"
	echo good >"$scratch/good"
	echo secret >"$scratch/secret"
	chmod 600 "$scratch/secret"
	start_server "${as[@]}" ./server -1 -q 8 -d "$scratch/in"
	run_client 1 ./client -a "$address" write "$scratch/good"
	says_one client.err 'good: the server refuses it: it cannot write the file'
	end_of server "$server" 0
	says_one server.err 'openat: Permission denied; may this user write to th'
	[[ -z $(ls -A "$scratch/in") ]] || fail "something is there"
	# One that may not be read is named, and the next one arrives.
	start_server "${as[@]}" ./server -1 -q 8 -d "$scratch/open"
	run_client 1 "${as[@]}" ./client -a "$address" -q 8 write \
		"$scratch/secret" "$scratch/good"
	says_one client.err 'open: Permission denied; .*/secret is not sent'
	end_of server "$server" 0
	server=''
	says_nothing server.err
	[[ $(ls -A "$scratch/open") == good ]] || fail "not the good one alone"
}

@test "07: a folder that may not be written to, a file that may not be read" {
	needs_lab
	on_device a no_rights
}

# send_dated TEXT DATE STATUS: a file of that text, and of that date.
send_dated() {
	echo "$1" >"$scratch/report"
	touch -d "$2" "$scratch/report"
	run_client "$3" ./client -a "$address" send "$scratch/report"
}

from_the_future() {
	mkdir "$scratch/in"
	start_server ./server -u -d "$scratch/in"
	send_dated future '2400-01-01' 0
	send_dated present 'now' 0
	[[ $(<"$scratch/in/report") == present ]] || fail "the year 2400 stays"
	send_dated future '2400-01-01' 1
	has_line server.err "the time of the new one is ahead of this machine's clock" ||
		fail "no reason"
	send_dated past '2020-01-01' 1
	has_line server.err 'it is not older' || fail "no reason for the past"
	[[ $(<"$scratch/in/report") == present ]] || fail "it was replaced"
	stop_server
}

@test "07: -u: a file of the year 2400 does not keep its name for ever" {
	FUNCTIONS=send_dated on_device a from_the_future
}

# What a stranger may do to the folder, and to who reads the logs of it.
strangers() {
	local name names=(-rf '--checkpoint-action=exec=sh x'
		$'a\e]0;title\a\e[2Jb\nc' $'\xff\xfe'
		# U+202E, 2066, 200B, FEFF: the text runs backwards, or has more.
		$'invoice\xe2\x80\xaefdp.exe' $'a\xe2\x81\xa6b'
		$'good\xe2\x80\x8b' $'\xef\xbb\xbfgood')

	mkdir "$scratch/in" "$scratch/out"
	echo original >"$scratch/in/deploy.sh"
	chmod 700 "$scratch/in/deploy.sh"
	echo evil >"$scratch/out/deploy.sh"
	echo good >"$scratch/out/good"
	for name in "${names[@]}"; do
		echo x >"$scratch/out/$name"
	done
	start_server ./server -d "$scratch/in"
	run_client 1 ./client -a "$address" send "$scratch"/out/*
	has_line server.log "^the client is at $address\.\$" || fail "from where"
	count_lines client.err 'does not take a file of that name$'
	[[ $count -eq ${#names[@]} ]] || fail "not each of the names is refused"
	has_line client.err 'deploy\.sh: .* it has a file of that name' ||
		fail "deploy.sh"
	has_line server.err 'is there already; -u replaces' || fail "no reason"
	await "a server that is done" has_line server.log 'peer disconnected'
	[[ $(ls -A "$scratch/in") == $'deploy.sh\ngood' ]] || fail "others are there"
	[[ $(<"$scratch/in/deploy.sh") == original ]] || fail "it was replaced"
	# Neither end prints what a terminal would obey.
	! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$scratch"/{client,server}.{log,err} ||
		fail "control characters are printed"
	! LC_ALL=C grep -qP '\xe2\x80[\x8b\xae]|\xe2\x81\xa6|\xef\xbb\xbf' \
		"$scratch"/{client,server}.{log,err} ||
		fail "what changes the direction of a line is printed, or what nobody sees"
	stop_server
	# With -u, an older one is replaced, and a newer one is not.
	touch -d '2020-01-01' "$scratch/in/deploy.sh"
	touch -d '2019-01-01' "$scratch/out/good"
	start_server ./server -1 -u -d "$scratch/in"
	run_client 1 ./client -a "$address" send "$scratch/out/"{deploy.sh,good}
	says_one client.err 'good: .* it has a file of that name'
	end_of server "$server" 0
	[[ $(<"$scratch/in/deploy.sh") == evil ]] || fail "it was not replaced"
	# And no more than a MiB in all.
	head -c 700000 /dev/zero >"$scratch/out/one"
	head -c 700000 /dev/zero >"$scratch/out/two"
	start_server ./server -1 -M 1 -d "$scratch/in"
	run_client 1 ./client -a "$address" send "$scratch/out/"{one,two}
	says_one client.err 'two: .* it does not take that much in all'
	end_of server "$server" 0
	server=''
	[[ ! -e $scratch/in/two ]] || fail "it was taken"
}

@test "07: strangers: names, files that are there, and how much" {
	on_device a strangers
}

# The server is killed when the file has its name, and STORED was not sent: it
# comes back, and so does the client. NEWER: somebody else has stored one meanwhile.
lost_answer() {
	local newer=${1:-}

	mkdir "$scratch/in"
	head -c 50000 /dev/urandom >"$scratch/file"
	# Two messages of hello.h and READY come before it.
	at 'ibv_post_send 4' kill
	start_server "${at[@]}" ./server -t 3 -d "$scratch/in"
	start_client ./client -t 5 -a "$address" -R 50 send "$scratch/file"
	wait "$server" || true
	cmp "$scratch/file" "$scratch/in/file" || fail "it was not stored"
	if [[ $newer ]]; then
		echo newer >"$scratch/in/file"
	fi
	start_server ./server -t 3 -u -d "$scratch/in"
	end_client "${newer:-0}"
	if [[ $newer ]]; then
		has_line client.err 'file: .* it has a file of that name' ||
			fail "it is not refused"
		[[ $(<"$scratch/in/file") == newer ]] || fail "it was replaced"
	else
		has_line client.log '^file: the server has 50000 of 50000' ||
			fail "it was sent again"
		has_line client.log '^file: stored, 50000 bytes' || fail "not stored"
		cmp "$scratch/file" "$scratch/in/file" || fail "another file"
	fi
	[[ $(ls -A "$scratch/in") == file ]] || fail "there is something else"
	stop_server
}

@test "07: -R: STORED is lost: the file is neither sent again nor stored twice" {
	on_device a lost_answer
}

@test "07: -R: STORED is lost, and a newer file is there: that stays" {
	on_device a lost_answer 1
}

# Half of a file is there, and another one of its name and time comes.
other_contents() {
	local way

	mkdir "$scratch/in" "$scratch/x" "$scratch/y"
	head -c 1000000 /dev/urandom >"$scratch/x/doc"
	head -c 1000000 /dev/urandom >"$scratch/y/doc"
	touch -r "$scratch/x/doc" "$scratch/y/doc"
	start_server ./server -t 20 -d "$scratch/in"
	for way in send write read; do
		at 'ibv_post_send 25' kill
		start_client "${at[@]}" ./client -a "$address" -q 8 -b 16384 \
			"$way" "$scratch/x/doc"
		end_client 137
		run_client 0 ./client -t 30 -a "$address" "$way" "$scratch/y/doc"
		has_line client.log '^doc: that is of another file of this name' ||
			fail "it went on with it"
		cmp "$scratch/y/doc" "$scratch/in/doc" || fail "another is stored"
		[[ $(ls -A "$scratch/in") == doc ]] || fail "a part is left"
		# All of it is there: it stays, and the first one is refused.
		run_client 1 ./client -t 30 -a "$address" "$way" "$scratch/x/doc"
		says_one client.err 'has another file of that name, size and time'
		cmp "$scratch/y/doc" "$scratch/in/doc" || fail "it was replaced"
		rm "$scratch/in/doc"
	done
	stop_server
}

@test "07: another file of the same name and time is not gone on with" {
	on_device a other_contents
}

# Two servers, one folder, a file of one name and time with two contents: what each
# says that it has stored is there.
two_servers() {
	local first second

	mkdir "$scratch/in" "$scratch/x" "$scratch/y"
	head -c 3000000 /dev/urandom >"$scratch/x/doc"
	head -c 3000000 /dev/urandom >"$scratch/y/doc"
	touch -r "$scratch/x/doc" "$scratch/y/doc"
	start_server ./server -t 20 -p 7001 -d "$scratch/in"
	first=$server
	at 'ibv_post_send 40' stop
	start_client "${at[@]}" ./client -t 20 -p 7001 -a "$address" -q 8 -b 16384 \
		send "$scratch/x/doc"
	await "a client that stops in the middle" state "$client" T
	second=$client
	start_server ./server -t 20 -p 7002 -d "$scratch/in"
	run_client 1 ./client -p 7002 -a "$address" send "$scratch/y/doc"
	says_one client.err 'doc: the server refuses it: it cannot write the file'
	says_one server.err '^error: flock: .* is another server receiving that file'
	stop_server
	server=$first client=$second
	kill -CONT "$client"
	wait "$client" || fail "the first one failed"
	client=''
	cmp "$scratch/x/doc" "$scratch/in/doc" || fail "another file is there"
	[[ $(ls -A "$scratch/in") == doc ]] || fail "a part is left"
	kill "$server"
	wait "$server"
	server=''
}

@test "07: two servers on one folder do not mix what they store" {
	on_device a two_servers
}

# The server is stopped for longer than it takes until a client tells of itself.
progress() {
	local line='([0-9 ]{3}) %, ([0-9]+\.[0-9]) MB/s, ([0-9]+) s left'

	mkdir "$scratch/in" "$scratch/out"
	head -c 3000000 /dev/urandom >"$scratch/out/file"
	at 'ibv_post_recv 60' stop
	start_server "${at[@]}" ./server -1 -d "$scratch/in"
	start_client script -qec \
		"./client -a $address -q 8 -b 16384 $1 $scratch/out/file" /dev/null
	await "a server that stops in the middle" state "$server" T
	read -rt 1.5 -u "$silence" || true
	kill -CONT "$server"
	end_client 0
	end_of server "$server" 0
	server=''
	[[ $(tr '\r' '\n' <"$scratch/client.log") =~ $'\n'$line ]] ||
		fail "it does not say how far it is"
	# The three must fit: what is left takes so long at that rate.
	awk -v percent="${BASH_REMATCH[1]}" -v rate="${BASH_REMATCH[2]}" \
		-v left="${BASH_REMATCH[3]}" 'BEGIN {
			due = 3 * (1 - percent / 100)
			exit !(percent > 0 && percent <= 100 && rate > 0 &&
				left * (rate - 0.05) <= due + 0.03 + rate / 2 &&
				left * (rate + 0.05) >= due - 0.03 - rate / 2)
		}' || fail "it does not fit: ${BASH_REMATCH[0]}"
	# What it said is wiped away before the line that stays.
	[[ $(tr -d '\r' <"$scratch/client.log") =~ ' left'\ {20,}'file: stored, 3000000' ]] ||
		fail "the line is not wiped"
}

@test "07: on a terminal, the client says how far it is" {
	on_device a progress write
}

# The rkey of one part is wrong: both queue pairs are in the error state.
wrong_rkey() {
	local way hostile=(env LD_PRELOAD="$build/../hostile_07.so")

	mkdir "$scratch/in" "$scratch/out"
	head -c 3000000 /dev/urandom >"$scratch/out/file"
	for way in write read; do
		# Who asks for a part's bytes is who has the wrong key.
		if [[ $way == write ]]; then
			start_server ./server -t 20 -d "$scratch/in"
			start_client "${hostile[@]}" "HOSTILE=write 60 rkey=255" \
				./client -t 20 -a "$address" -R 3 -q 8 -b 16384 \
				write "$scratch/out/file"
		else
			start_server "${hostile[@]}" "HOSTILE=read 60 rkey=255" \
				./server -t 20 -d "$scratch/in"
			start_client ./client -t 20 -a "$address" -R 3 -q 8 \
				-b 16384 read "$scratch/out/file"
		fi
		end_client 0
		count_lines client.log '^the connection broke; again in'
		[[ $count -eq 1 ]] || fail "it broke $count times"
		has_line client.log '^file: the server has [1-9][0-9]* of 3000000' ||
			fail "it has begun anew"
		cat "$scratch/client.err" "$scratch/server.err" >"$scratch/err"
		has_line err 'of a part: status 10 \(remote access error' ||
			fail "the key was not refused"
		cmp "$scratch/out/file" "$scratch/in/file" || fail "not the same"
		[[ $(ls -A "$scratch/in") == file ]] || fail "a part is left"
		stop_server
		rm "$scratch/in/file"
	done
}

@test "07: -R: a wrong rkey puts the queue pair in ERR; the file arrives once" {
	on_device a wrong_rkey
}

# --- two nodes: each makes its own outgoing packets go astray

# keeping_server NETEM ARGUMENT…: a server that runs until stdin ends; then what
# it has, and what it said.
keeping_server() {
	local netem=$1

	shift
	trap 'tc qdisc del dev eth0 root; clean_up' EXIT
	# shellcheck disable=SC2086 # several words
	tc qdisc replace dev eth0 root netem limit 10000 ${netem//_/ }
	mkdir "$scratch/in"
	start_server ./server -d "$scratch/in" "$@"
	echo "pid $server"
	read -r || true
	stop_server
	(cd "$scratch/in" && sha256sum -- * && ls -A)
	cat "$scratch/server.log" "$scratch/server.err"
}

# arrived_once FILE…: said has the digest of each, as the client says it (output),
# and has it once.
arrived_once() {
	local file digest

	for file; do
		digest=$(sed -n "s/^$file: stored, .* SHA-256 //p" <<<"$output")
		[[ $digest =~ ^[0-9a-f]{64}$ ]]
		[[ $(grep -c "^$digest  $file\$" <<<"$said") -eq 1 ]]
		[[ $(grep -cx "$file" <<<"$said") -eq 1 ]]
		[[ $(grep -c "^stored: .* SHA-256 $digest\$" <<<"$said") -eq 1 ]]
	done
	[[ $(grep -c ^stored: <<<"$said") -eq $# && $said != *.part* ]]
}

# On node b. The digest that the client says is that of the file.
sends_over_loss() {
	# With rxe (6.1), each lost packet of what is read costs a second.
	local -A bytes=([send]=700001 [write]=700001 [read]=40001)
	local way

	trap 'tc qdisc del dev eth0 root; clean_up' EXIT
	tc qdisc replace dev eth0 root netem limit 10000 loss 10%
	mkdir "$scratch/out"
	for way in send write read; do
		head -c "${bytes[$way]}" /dev/urandom >"$scratch/out/by_$way"
		run_client 0 ./client -a a -R 100 -t 9 -q 16 -b 4096 "$way" \
			"$scratch/out/by_$way"
		has_line client.log "SHA-256 $(sha256sum <"$scratch/out/by_$way" |
			cut -d ' ' -f 1)\$" || fail "it sent something else"
		grep -E '^by_' "$scratch/client.log"
	done
}

@test "07: a network that loses 10 %: nothing is lost or doubled, by any way" {
	modprobe_netem
	between_nodes 'keeping_server loss_10% -t 9' sends_over_loss
	arrived_once by_send by_write by_read
}

# On node b. A part takes 0.6 s there: who repeats seven times what is not
# acknowledged in a tenth of that never gets through.
sends_slowly() {
	local way

	trap 'tc qdisc del dev eth0 root; clean_up' EXIT
	tc qdisc replace dev eth0 root netem limit 10000 rate 1mbit
	mkdir "$scratch/out"
	for way in send write read; do
		head -c 300001 /dev/urandom >"$scratch/out/by_$way"
		run_client 0 ./client -a a "$way" "$scratch/out/by_$way"
		says_nothing client.err
		grep -E '^by_' "$scratch/client.log"
	done
}

@test "07: a network of 1 Mb/s is slow, and no more than that" {
	modprobe_netem
	between_nodes 'keeping_server delay_1ms' sends_slowly
	arrived_once by_send by_write by_read
}

# The modules of a lab are loaded when they are first asked for.
modprobe_netem() {
	needs_lab
	device_run a modprobe sch_netem
	device_run b modprobe sch_netem
}

# On node b: 5 s without a link, in the middle. If the connection manager sends
# anything meanwhile, rxe (6.1) receives nothing for it ever after
# [docs/troubleshooting.md#link-back]: so the device is made anew.
renew_link() {
	ip link set eth0 up
	ip addr replace 2001:db8::2/64 dev eth0 nodad
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev eth0
}

# sends_over_cut WAY
sends_over_cut() {
	local file=$scratch/out/by_$1

	trap 'clean_up; renew_link' EXIT
	mkdir "$scratch/out"
	head -c 1500000 /dev/urandom >"$file"
	at 'ibv_post_send 25' stop
	start_client "${at[@]}" ./client -a a -R 100 -t 3 -q 8 -b 16384 "$1" "$file"
	await "a client that stops in the middle" state "$client" T
	ip link set eth0 down
	kill -CONT "$client"
	read -rt 5 -u "$silence" || true
	ip link set eth0 up
	end_client 0
	has_line client.log '^the connection broke; again in' || fail "nothing broke"
	has_line client.log "^by_$1: the server has [1-9][0-9]* of" ||
		fail "it has begun anew"
	has_line client.log "SHA-256 $(sha256sum <"$file" | cut -d ' ' -f 1)\$" ||
		fail "it sent something else"
	grep -E '^by_.*stored' "$scratch/client.log"
}

# over_cut WAY
over_cut() {
	modprobe_netem
	FUNCTIONS=renew_link between_nodes 'keeping_server delay_1ms -t 3' \
		"sends_over_cut $1"
	arrived_once "by_$1"
}

@test "07: -R: the link is down for 5 s in the middle; sent, it arrives once" {
	over_cut send
}

@test "07: -R: the link is down for 5 s in the middle; written, it arrives once" {
	over_cut write
}

@test "07: -R: the link is down for 5 s in the middle; read, it arrives once" {
	over_cut read
}
