# judge.sh - what a repair of private must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# talks RUN SERVER CLIENT WHAT: these two, of which one is the chapter's own.
talks() {
	run "$1" "server: $2" "client: $3 192.0.2.1"
	well "$4" "$1" client
	well 'and its server is well, too' "$1" server
}

talks theirs 'ORIGINAL/first 111111' './first 222222' "the chapter's own server is understood"
talks ours './first 111111' 'ORIGINAL/first 222222' "so is the chapter's own client"
talks both './first 111111' './first 222222' 'it still talks with itself'
want 'each end begins with its own PSN' both/client.log 'sq_psn=0x222222$' 1
want 'and tells that' both/client.log '^local:  QPN 0x[0-9a-f]{6}, PSN 0x222222,' 1
