/*
 * hold.h - a client that stays when everything is done
 */
#ifndef HOLD_H
#define HOLD_H

#include "conn.h"

/*
 * Stays connected for that many seconds, or until the program is asked to stop.
 * Returns 0, or -1 after reporting what ended the connection.
 */
int hold_connection(struct conn *conn, int seconds);

#endif
