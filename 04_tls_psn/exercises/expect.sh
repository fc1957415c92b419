# expect.sh - what the runs do not show of tls_expect_peer(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

as_case wrong_name wrong_ca expired
