#!/usr/bin/env bash
#
# compare_logs.sh - did a run tell the same story as the logged one?
#
# usage: scripts/compare_logs.sh [-w] RUN_DIR EXPECTED_DIR
#
# Compares server.log, client.log and every other *.log of RUN_DIR with those of
# EXPECTED_DIR, and server.err and the like where EXPECTED_DIR has them: line by line and
# character by character, except for what changes from run to run (pids, pointers, queue
# pair numbers, PSNs, keys, addresses, device names; lib/log_tokens.py has them all). It
# checks that these are consistent: what the server calls its own must be what the client
# calls its peer's. Prints `matches`, or what differs.
#
#   -w  only print the folder whose logs hold for the kernel of the run
#
# EXPECTED_DIR holds the logs. A folder linux-X.Y in it is for a run on that kernel
# or a newer one (RUN_DIR/kernel has its release, as pair.sh wrote it), up to the next
# such folder; EXPECTED_DIR itself is for all others. A file `races` beside the logs
# declares lines that may change places, one pair per line, where * is any text and #
# starts a comment:
#
#   server.log: received message: * <> send completed successfully.
#
# Lines that belong together change places as a block if + joins them:
#
#   server.log: wc->status = * + received: * <> wc->status = * + sent.
#
# If a race decides which of two lines or blocks is printed, either may replace the other:
#
#   client.err: error: receive: * | error: send: *
#
# A line may depend on what came before it. A number {n} that counts lines of the
# same log is checked to be that count, wherever its line is:
#
#   server.log: state={n}, received. counts state=*, sent.
#
# If several clients print into one log, the lines of each can be compared
# separately, whatever lines of others are between them; the declarations above
# then hold within the lines of one:
#
#   *.log: Client {n}: * apart
#
# Exit status: 0 matches, 1 differs, 2 cannot compare (and says why on stderr).
# Example: scripts/compare_logs.sh /tmp/run 01_send_recv/expected/default
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
exec "$top/scripts/lib/python.sh" compare_logs "$@"
