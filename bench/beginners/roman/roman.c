#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct { int v; char *s; } tab[] = {
	{ 1000, "M" }, { 900, "CM" }, { 500, "D" }, { 400, "CD" },
	{ 100, "C" }, { 60, "XC" }, { 50, "L" }, { 40, "XL" },
	{ 10, "X" }, { 9, "IX" }, { 5, "V" }, { 4, "IV" }, { 1, "I" },
};
#define N (int)(sizeof tab / sizeof tab[0])

int main(int argc, char **argv)
{
	char out[64];
	int i;

	while (--argc > 0) {
		int n = atoi(*++argv);
		if (n < 1 || n > 3999) {
			printf("%d: out of range\n", n);
			continue;
		}
		printf("%d = ", n);
		out[0] = 0;
		for (i = 0; i < N; i++)
			while (n >= tab[i].v) {
				strcat(out, tab[i].s);
				n -= tab[i].v;
			}
		printf("%s\n", out);
	}
	return 0;
}
