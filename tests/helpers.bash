# helpers.bash - what the tests on real RDMA devices have in common
#
#   setup_file() { open_device; }
#
# The device is where scripts/lib/device.sh finds it: a lab with two nodes that is
# up already, or one that is booted for the file; with DEVICE=host, this host.
# shellcheck shell=bash

top=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"
# device.sh has just forgotten what setup_file found for the whole file.
device_where=${TEST_DEVICE_WHERE:-}
device_host_address=${TEST_DEVICE_ADDRESS:-}

open_device() {
	if [[ ${DEVICE:-} == host ]]; then
		device_open 1
	else
		device_open 2
	fi
	# What the tests start need not look again.
	export DEVICE=$device_where TEST_DEVICE_WHERE=$device_where
	export TEST_DEVICE_ADDRESS=${device_host_address:-}
}

# Runs in the same shell as setup_file.
teardown_file() {
	device_close
}

# For a test that no single host can run, or that would take its device away.
needs_lab() {
	[[ $device_where == lab ]] || skip "this test needs the lab"
}
