#include <stdio.h>
#include <string.h>
#define MAX 10001

char composite[MAX];

int main(void)
{
	int n, i, j, cnt = 0;

	if (scanf("%d", &n) != 1 || n < 0 || n >= MAX) {
		printf("invalid\n");
		return 0;
	}
	for (i = 2; i * i <= n; i++) {
		if (composite[i]) continue;
		for (j = i * i; j <= n; j += i)
			composite[j] = 1;
	}
	for (i = 2; i < n; i++) {
		if (!composite[i]) {
			printf("%d ", i);
			cnt++;
			if (cnt % 10 == 0) printf("\n");
		}
	}
	printf("\n%d primes\n", cnt);
	return 0;
}
