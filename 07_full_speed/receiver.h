/*
 * receiver.h - takes the file that a client sends
 */
#ifndef RECEIVER_H
#define RECEIVER_H

#include "folder.h"
#include "stream.h"

/*
 * Takes a file into the folder, once connected. If it breaks off, what has come is kept, to
 * be continued. Returns 0 if the client was told what has become of it, or -1 after
 * reporting why not.
 */
int receiver_run(struct stream *stream, struct folder *folder);

#endif
