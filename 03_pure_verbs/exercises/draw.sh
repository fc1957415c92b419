# draw.sh - what the runs do not show of oob_draw_psn(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

lines=('server: ./server -1 write' 'client: ./client -a 192.0.2.1 write')
for try in 1 2 3 4; do
	run "drawn$try" "${lines[@]}"
done
drawn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\), .*/\1/p' "$place"/drawn*/*.log | sort -u)
check 'each end draws another number each time' drawn4 "they are: ${drawn//$'\n'/ }" \
	test "$(wc -l <<<"$drawn")" -eq 8
check 'all 24 bits are drawn' drawn4 "they are: ${drawn//$'\n'/ }" \
	test "$(cut -c 3 <<<"$drawn" | sort -u | wc -l)" -ge 2
# Who knows the time and the process must not know the number: not rand(3) or its like,
# and not these two themselves.
known='s?[lm]?rand(om|48)?(_r)?|clock(_gettime)?|gettimeofday|times?|timespec_get|getpp?id'
predictable=$(nm -u "$place/mine/oob.o" | grep -E " ($known)\$" || true)
check 'nobody can predict it' drawn4 "it calls $predictable" test -z "$predictable"
