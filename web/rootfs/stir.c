/*
 * stir.c - takes random bytes, in hexadecimal digits, into the kernel's source
 *
 * stir DIGITS: two nodes that one picture of the memory has begun would draw the
 * same numbers, the same PSNs and keys among them. The page draws a seed for each.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#define SEED_MOST 64

int main(int argc, char **argv)
{
	struct {
		struct rand_pool_info info;
		unsigned char bytes[SEED_MOST];
	} seed;
	size_t size = argc == 2 ? strlen(argv[1]) / 2 : 0;
	int fd = open("/dev/random", O_WRONLY);

	if (size < 16 || size > SEED_MOST) {
		fprintf(stderr, "usage: stir DIGITS, 32 to 128 of them\n");
		return 2;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned int byte;

		if (sscanf(argv[1] + 2 * i, "%2x", &byte) != 1) {
			fprintf(stderr, "stir: no hexadecimal digits\n");
			return 2;
		}
		seed.bytes[i] = (unsigned char)byte;
	}
	seed.info.buf_size = (int)size;
	seed.info.entropy_count = (int)size * 8;
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed) ||
	    ioctl(fd, RNDRESEEDCRNG)) {
		perror("stir: /dev/random");
		return 1;
	}
	return 0;
}
