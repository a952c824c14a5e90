#include <stdio.h>
#include <ctype.h>

#define WIDTH 8

void dumpline(long off, unsigned char *b, int n)
{
	int i;

	printf("%04ld ", off);
	for (i = 0; i < WIDTH; i++)
		if (i < n)
			printf(" %02x", b[i]);
		else
			printf("   ");
	printf("  ");
	for (i = 0; i < n; i++)
		putchar(isprint(b[i]) ? b[i] : '.');
	putchar('\n');
}

int main()
{
	unsigned char b[WIDTH];
	int c, n = 0;
	long off = 0;

	while ((c = getchar()) != EOF) {
		b[n++] = c;
		if (n == WIDTH) {
			dumpline(off, b, n);
			off += n;
			n = 0;
		}
	}
	if (n > 0)
		dumpline(off, b, n);
	return 0;
}
