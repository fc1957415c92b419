# perftest.bash - perftest's programs, for what is measured beside them
#
# Sourced after lib.bash; address is the device's.
# shellcheck shell=bash
# shellcheck disable=SC2154 # address and bytes: set by the script that sources this

port=18515

# Sets device and gid_index: whose GID is the address in use.
find_gid() {
	# In an IPv4 address's GID, the address is written as it is.
	read -r device gid_index < <(ibv_devinfo -v | awk -v address="$address" '
		$1 == "hca_id:" { device = $2 }
		/GID\[/ && /RoCE v2/ {
			sub(/.*GID\[ */, "")
			sub(/\]:/, "")
			sub(/,$/, "", $2)
			sub(/^::ffff:/, "", $2)
			if ($2 == address)
				print device, $1
		}') || fail "no RoCE v2 GID on any device is $address;" \
		"see \`ibv_devinfo -v\`"
}

# perftest NUMBER PROGRAM ARGUMENT…: both ends; value becomes what awk finds in
# the client's report by the expression NUMBER.
perftest() {
	local number=$1 program=$2 common attempt

	shift 2
	common=(-F -d "$device" -x "$gid_index" -p "$port" "$@")
	for attempt in 1 2 3 4 5 6; do
		is_listening "$port" &&
			fail "something else listens on port $port"
		serve "$program" "${common[@]}"
		await is_listening "$port"
		timeout "$limit" "$program" "${common[@]}" "$address" \
			>"$tmp/report" 2>"$tmp/err" ||
			fail "$program $*: $(cat "$tmp/err")"
		end_server
		value=$(awk -v bytes="$bytes" "$number" "$tmp/report")
		# On a busy machine it may not find out its clock's rate.
		[[ $value =~ ^[0-9]*\.?[0-9]*[1-9][0-9.]*$ ]] && return
		echo "07: $program, attempt $attempt: $value" >&2
	done
	fail "$program $*: $(cat "$tmp/report")"
}
