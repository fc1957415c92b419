/*
 * tls_io.h - chapter 05 has in tls.h what chapter 04 has here
 */
#ifndef TLS_IO_H
#define TLS_IO_H

#include "tls.h"

#endif
