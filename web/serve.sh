#!/usr/bin/env bash
# serve.sh - shows build/web in a browser on this machine
#
# usage: web/serve.sh [PORT]
#
# Serves on loopback only, until it is interrupted, with the Content-Security-Policy
# that a server can send and a page cannot say. PORT is 8000 by default.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
port=${1:-8000}
[[ $port =~ ^[0-9]{1,5}$ && $# -le 1 ]] || cli_misuse "PORT is a number"
cli_checked
[[ -e $top/build/web/index.html ]] || {
	echo "serve: there is no build/web; make web builds it" >&2
	exit 1
}
exec node "$top/web/serve.mjs" "$top/build/web" "$port"
