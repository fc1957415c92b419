# rtr.sh - what the runs do not show of qp_to_rtr(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# With -M at one end, both must use packets of that size.
for small in client server; do
	server=./server client=./client
	declare "$small=${!small} -M 256"
	run "small_$small" "server: $server -1 write" \
		"client: $client -a 192.0.2.1 write"
	for end in client server; do
		want "a $small that takes 256 bytes: the $end's packets have as many" \
			"small_$small/$end.log" '^INIT -> RTR: .* path_mtu=256,'
	done
done

# The peer has been told how many READs it may have under way.
run calls "server: $(witness server.calls ./server) -1 write" \
	"client: $(witness client.calls ./client) -a 192.0.2.1 write"
for end in client server; do
	want_at_least "the $end takes as many READs as it said it would" "$end.calls" \
		'^modify_qp state=2 .* reads=([2-9]|[1-9][0-9]+) ' 1
done
