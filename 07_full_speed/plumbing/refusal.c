/*
 * refusal.c - why a file is not taken
 */
#include "refusal.h"

const char *refusal_words(uint64_t number)
{
	static const char *const words[REFUSAL_COUNT] = {
		[REFUSAL_NAME] = "it does not take a file of that name",
		[REFUSAL_NO_DIRECTORY] =
			"it has no directory for files; start it with -d DIRECTORY",
		[REFUSAL_NOT_WRITTEN] =
			"it cannot write the file; see what it says",
		[REFUSAL_WRONG_DATA] =
			"what arrived is not what was sent; send it again",
		[REFUSAL_THERE] =
			"it has a file of that name, and replaces none",
		[REFUSAL_NO_ROOM] =
			"it does not take that much in all; see what it says",
	};

	return number && number < REFUSAL_COUNT ? words[number] :
						  "for no known reason";
}
