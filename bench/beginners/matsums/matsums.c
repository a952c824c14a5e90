#include <stdio.h>
#define ROWS 10
#define COLS 10

int main(void)
{
	int a[ROWS][COLS];
	int r, c, i, j, sum;

	if (scanf("%d %d", &r, &c) != 2 || r < 1 || c < 1 || r > ROWS || c > COLS)
	{
		printf("bad size\n");
		return 0;
	}
	for (i = 0; i < r; i++)
		for (j = 0; j < c; j++)
			scanf("%d", &a[i][j]);

	for (i = 0; i < r; i++)
	{
		sum = 0;
		for (j = 0; j < c; j++)
		{
			printf("%5d", a[i][j]);
			sum += a[i][j];
		}
		printf(" |%5d\n", sum);
	}
	for (j = 0; j < c; j++)
	{
		for (i = 0; i < r; i++)
			sum += a[i][j];
		printf("%5d", sum);
	}
	printf("\n");
	return 0;
}
