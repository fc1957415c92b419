# expect.sh - what the runs do not show of expect_peer(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

as_case wrong_name wrong_ca expired
# Certificates that are right, for the name only or for addresses only; and some whose
# subject has the name, which does not count.
made() {
	bash "$place/mine/${3:-certs.sh}" --names "$2" "$place/mine/$1" >/dev/null
}
sed 's/"RDMA tutorial server"/a/' "$place/mine/certs.sh" >"$place/mine/subject.sh"
made name DNS:a
made addresses IP:192.0.2.1,IP:192.0.2.2,IP:2001:db8::1,IP:2001:db8::2
made subject IP:192.0.2.1 subject.sh
# of RUN CERTIFICATE ADDRESS [CERTIFICATE]: the server's, where it is, the client's.
of() {
	local client=${4:-certs}

	run "$1" 'nodes: 2' \
		"server: ./server -1 -A $client/ca.pem -C $2/server.pem -K $2/server.key write" \
		"client: ./client -a $3 -A $2/ca.pem -C $client/client.pem -K $client/client.key write"
}
of by_name name a
well 'a server is who was meant if its certificate has that name' by_name client
of no_name addresses a
fails 'and not if it has addresses only' no_name client
of in_subject subject a
fails 'nor if its subject alone has the name' in_subject client
of six addresses 2001:db8::1 addresses
well 'addresses may be those of IPv6' six client
of elsewhere addresses 2001:db8::1 name
fails 'and a client that is not at one of its certificate is refused' elsewhere server
