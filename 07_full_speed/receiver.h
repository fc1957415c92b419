/*
 * receiver.h - takes the files that a client sends
 */
#ifndef RECEIVER_H
#define RECEIVER_H

#include "stream.h"
#include "folder.h"

/*
 * Takes files into the folder, if there is one, until the client says
 * that there are no more. A file that breaks off is kept, to be continued.
 * Returns 0, or -1 after reporting why.
 */
int receiver_run(struct stream *stream, struct folder *folder);

#endif
