/*
 * test_07_filename.c - how a name that a stranger has chosen is shown
 */
#include "filename.h"

#include <locale.h>
#include <string.h>

#include "test.h"

TEST(show)
{
	char shown[FILENAME_SHOWN], name[2 * FILENAME_SHOWN];

	filename_show("a/naïve b", shown);
	assert_string_equal(shown, "a/naïve b");
	filename_show("\033[2J\xff\xc2\x9b", shown);
	assert_string_equal(shown, "\\x1b[2J\\xff\\xc2\\x9b");
	memset(name, '\a', sizeof(name));
	for (size_t n = FILENAME_SHOWN / 4 - 3; n < sizeof(name); n++) {
		name[n] = 0;
		filename_show(name, shown);
		assert_true(strlen(shown) < FILENAME_SHOWN);
		name[n] = '\a';
	}
}

static int set_locale(void **state)
{
	(void)state;
	return !setlocale(LC_CTYPE, "C.UTF-8");
}

AROUND_ALL(set_locale, NULL)
