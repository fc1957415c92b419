#!/usr/bin/env bash
#
# compare_logs.sh - did a run tell the same story as the logged one?
#
# Compares the logs of both ends of a run with the expected ones, line by line and
# character by character, except for what changes from run to run: pids, pointers, queue
# pair numbers, PSNs, keys, addresses, device names. It checks that these are
# consistent: what the server calls its own must be what the client calls its peer's.
# log_tokens.py has the table of what is volatile.

set -euo pipefail
export LC_ALL=C

usage() {
	cat <<'END'
Usage: compare_logs.sh [-v|-w] RUN_DIR EXPECTED_DIR

Compares server.log, client.log and every other *.log of RUN_DIR with those of
EXPECTED_DIR, and server.err and the like where EXPECTED_DIR has them. Prints
`matches`, or what differs.

  -v  also say what the volatile values stood for
  -w  only print the folder whose logs hold for the kernel of the run
  -h  this help

EXPECTED_DIR holds the logs. A folder linux-X.Y in it is for a run on that kernel
or a newer one (RUN_DIR/kernel has its release, as pair.sh wrote it), up to the next
such folder; EXPECTED_DIR itself is for all others. A file `races` beside the logs
declares lines that may change places, one pair per line, where * is any text and #
starts a comment:

  server.log: received message: * <> send completed successfully.

Lines that belong together change places as a block if + joins them:

  server.log: wc->status = * + received: * <> wc->status = * + sent.

If a race decides which of two lines is printed, either may replace the other:

  client.err: error: receive: * | error: send: *

If several lines together say the same as one, they are read as that one. There,
a name in braces stands for the same text as in the first of them:

  server.log: {a} failed. + It has come all the same. means {a} succeeded.

A line may depend on what came before it. A number {n} that counts lines of the
same log is checked to be that count, wherever its line is:

  server.log: state={n}, received. counts state=*, sent.

If several clients print into one log, the lines of each can be compared
separately, whatever lines of others are between them; the declarations above
then hold within the lines of one:

  *.log: Client {n}: * apart

Exit status: 0 matches, 1 differs, 2 cannot compare (and says why on stderr).
Example: compare_logs.sh /tmp/run 01_send_recv/expected
END
}

[ "${1:-}" != --help ] || set -- -h
options=()
while getopts vwh option; do
	case $option in
	v | w) options=("-$option") ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -ne 2 ]; then
	usage >&2
	exit 2
fi
if [ ! -x /usr/bin/python3 ]; then
	echo "compare_logs.sh: no /usr/bin/python3, in which the comparison is" \
		"written; scripts/install_deps.sh installs it" >&2
	exit 2
fi
exec "$(dirname "$0")/lib/python.sh" compare_logs \
	"${options[@]}" -- "$1" "$2"
