#include <stdio.h>
#include <string.h>

#define LETTER_MAX 20
#define BIG_MAX 500
#define PARCEL_MAX 2000

/* price in cents, -1 if it cannot be sent */
int price(int grams, int express)
{
	int c;

	if (grams <= 0)
		return -1;
	if (grams <= LETTER_MAX)
		c = 85;
	else if (grams < BIG_MAX)
		c = 160;
	else if (grams <= PARCEL_MAX)
		c = 549;
	else
		return -1;
	if (express)
		c += 350;
	return c;
}

int main()
{
	int g, c, sum = 0;
	char kind[20];

	while (scanf("%d %19s", &g, kind) == 2) {
		c = price(g, strcmp(kind, "express") == 0);
		if (c < 0) {
			printf("%dg: cannot send\n", g);
			continue;
		}
		printf("%dg: %d.%02d\n", g, c / 100, c % 100);
		sum += c;
	}
	printf("total %d.%02d\n", sum / 100, sum % 100);
	return 0;
}
