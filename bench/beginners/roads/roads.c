#include <stdio.h>

#define INF 1000000
#define MAXN 30

int d[MAXN][MAXN];

int main(void)
{
	int n, m, i, j, k;
	int a, b, len, q;

	scanf("%d %d", &n, &m);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			d[i][j] = i == j ? 0 : INF;
	while (m-- > 0) {
		scanf("%d %d %d", &a, &b, &len);
		if (len < d[a][b])
			d[a][b] = d[b][a] = len;
	}

	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				if (d[i][k] + d[i][j] < d[i][j])
					d[i][j] = d[i][k] + d[k][j];

	scanf("%d", &q);
	while (q-- > 0) {
		scanf("%d %d", &a, &b);
		if (d[a][b] >= INF)
			printf("%d-%d: unreachable\n", a, b);
		else
			printf("%d-%d: %d km\n", a, b, d[a][b]);
	}
	return 0;
}
