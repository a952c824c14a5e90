#include <stdio.h>
#include <string.h>

void reverse(char *s, int from, int to)
{
	while (from < to) {
		char c = s[from];
		s[from++] = s[to];
		s[to--] = c;
	}
}

/* rotate left by k using three reversals */
void rotl(char *s, int k)
{
	int n = strlen(s);

	if (n == 0)
		return;
	k %= n;
	if (k < 0)
		k += n;
	if (k == 0)
		return;
	reverse(s, 0, k);
	reverse(s, k, n - 1);
	reverse(s, 0, n - 1);
}

int main()
{
	char w[64];
	int k;

	while (scanf("%d %63s", &k, w) == 2) {
		rotl(w, k);
		printf("%s\n", w);
	}
	return 0;
}
