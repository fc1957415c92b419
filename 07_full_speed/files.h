/*
 * files.h - sends a file, and takes one
 */
#ifndef FILES_H
#define FILES_H

#include "folder.h"
#include "outgoing.h"
#include "stream.h"

/*
 * Sends the file, once connected. Returns 0; 1 after reporting why it was not sent or not
 * taken; or -1 after reporting how the connection broke. Then it can be called again with
 * another one: what the server has of the file is not sent again.
 */
int sender_run(struct stream *stream, struct outgoing *file);

/*
 * Takes a file into the folder, once connected. If it breaks off, what has come is kept, to
 * be continued. Returns 0 if the client was told what has become of it, or -1 after
 * reporting why not.
 */
int receiver_run(struct stream *stream, struct folder *folder);

#endif
