/*
 * test_tls.c - whom a chapter lets in, and how long it listens: see tls_test.h
 */
#define _GNU_SOURCE
#include "tls_test.h"

#include "tls_peers.h"
#include "tls_talk.h"

AROUND_ALL(open_files, close_files)
