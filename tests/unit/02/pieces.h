/*
 * pieces.h - this chapter cuts what a port does not take at once, and sends small
 * messages inline
 */
#ifndef PIECES_H
#define PIECES_H

#define SET_MAX_MESSAGE(bytes) conn.max_message = (bytes)

#endif
