# perftest.bash - perftest's programs, for what is measured beside them
#
# Sourced after lib.bash; address is the device's.
# shellcheck shell=bash
# shellcheck disable=SC2154 # address and bytes: set by the script that sources this

port=18515

# gid_of ADDRESS COMMAND…: the options that name the device and the GID of that address;
# COMMAND is ibv_devinfo.
gid_of() {
	local address=$1

	shift
	# In an IPv4 address's GID, the address is written as it is.
	"$@" -v | awk -v address="$address" '
		$1 == "hca_id:" { device = $2 }
		/GID\[/ && /RoCE v2/ {
			sub(/.*GID\[ */, "")
			sub(/\]:/, "")
			sub(/,$/, "", $2)
			sub(/^::ffff:/, "", $2)
			if ($2 == address)
				print "-d", device, "-x", $1
		}' | grep . ||
		fail "no RoCE v2 GID on any device is $address; see \`ibv_devinfo -v\`"
}

# Sets gid_there and gid_here: the options of server and client.
find_gid() {
	local found

	found=$(gid_of "$address" "${on_a[@]}" ibv_devinfo)
	read -ra gid_there <<<"$found"
	[[ -z ${HOSTS:-} ]] || found=$(gid_of "$(hosts_address b)" "${on_b[@]}" ibv_devinfo)
	read -ra gid_here <<<"$found"
}

# perftest NUMBER PROGRAM ARGUMENT…: both ends; value becomes what awk finds in
# the client's report by the expression NUMBER.
perftest() {
	local number=$1 program=$2 common attempt

	shift 2
	common=(-F -p "$port" "$@")
	for attempt in 1 2 3 4 5 6; do
		is_listening "$port" &&
			fail "something else listens on port $port"
		serve "$program" "${gid_there[@]}" "${common[@]}"
		await is_listening "$port"
		"${on_b[@]}" timeout "$limit" "$program" "${gid_here[@]}" "${common[@]}" "$address" \
			>"$tmp/report" 2>"$tmp/err" ||
			fail "$program $*: $(cat "$tmp/err")"
		end_server
		value=$(awk -v bytes="$bytes" "$number" "$tmp/report")
		# On a busy machine it may not find out its clock's rate.
		[[ $value =~ ^[0-9]*\.?[0-9]*[1-9][0-9.]*$ ]] && return
		echo "bench: $program, attempt $attempt: $value" >&2
	done
	fail "$program $*: $(cat "$tmp/report")"
}
