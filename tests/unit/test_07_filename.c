/*
 * test_07_filename.c - which names are taken from a stranger, and how they are shown
 */
#include "filename.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

TEST(good)
{
	static const char *const good[] = { "a",     "a b.txt", "a-b",
					    "naïve", "日本語",	"a.",
					    "~",     "\\",	"$(x)" };
	char longest[FILENAME_MAX_BYTES + 2];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(filename_is_good(good[i], strlen(good[i])));
	memset(longest, 'a', sizeof(longest));
	assert_true(filename_is_good(longest, FILENAME_MAX_BYTES));
	assert_false(filename_is_good(longest, FILENAME_MAX_BYTES + 1));
}

TEST(bad)
{
	static const char *const bad[] = { "",
					   ".",
					   "..",
					   ".a",
					   "a/b",
					   "/",
					   "a/",
					   "-",
					   "-rf",
					   "--checkpoint-action=exec=x",
					   "a\nb",
					   "a\033]0;b\a",
					   "\177",
					   "\xff\xfe",
					   "a\xc3",
					   "\xc0\xaf",
					   "\xed\xa0\x80",
					   "\xc2\x9b"
					   "2J",
					   "a\xe2\x80\xa8"
					   "b" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (filename_is_good(bad[i], strlen(bad[i])))
			fail_msg("number %zu is taken", i);
	assert_false(filename_is_good("a\0b", 3));
}

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
