#!/usr/bin/env bats
#
# All wrong solutions of all exercises; see ../exercises_wrong.bats.

load ../helpers
load ../exercises

setup_file() { open_device; }

@test "01: send back what came, wrongly" {
	wrong 01_send_recv echo
}

@test "01: three messages at once, wrongly" {
	wrong 01_send_recv three
}

@test "01: say who you are, wrongly" {
	wrong 01_send_recv name
}

@test "02: a write that says that it is there, wrongly" {
	wrong 02_write_read write_imm
}

@test "02: a number for every client, wrongly" {
	wrong 02_write_read ticket
}

@test "03: the same exchange with a program that is not ours, wrongly" {
	wrong 03_pure_verbs pingpong
}

@test "03: without acknowledgements, wrongly" {
	wrong 03_pure_verbs unreliable
}

@test "04: is it the same peer, wrongly" {
	wrong 04_tls_psn bind
}

@test "04: who may come, wrongly" {
	wrong 04_tls_psn allow
}

@test "05: figures for a monitor, wrongly" {
	wrong 05_multiclient metrics
}

@test "05: options from a file, wrongly" {
	wrong 05_multiclient config_file
}

@test "06: read instead of write, wrongly" {
	wrong 06_rds read
}

@test "06: one that does not read, wrongly" {
	wrong 06_rds others
}

@test "06: dealt with, wrongly" {
	wrong 06_rds sure
}

@test "07: compress on the way, wrongly" {
	wrong 07_full_speed compress
}

@test "07: two files at once, wrongly" {
	wrong 07_full_speed two
}

@test "07: one receive queue for two clients, wrongly" {
	wrong 07_full_speed srq
}

@test "08: several loops, wrongly" {
	wrong 08_event_loop loops
}
