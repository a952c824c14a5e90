#include <stdio.h>
#include <stdlib.h>

#define TO_C(f) (((f) - 32) * 5.0 / 9)
#define TO_F(c) ((c) * (9 / 5) + 32.0)

int main(int argc, char *argv[])
{
	int lo = 0;
	int hi = 100;
	int step = 20;
	int t;

	if (argc > 1) lo = atoi(argv[1]);
	if (argc > 2) hi = atoi(argv[2]);
	if (argc > 3) step = atoi(argv[3]);
	if (step <= 0) {
		printf("step must be positive\n");
		return 1;
	}

	printf("   x   x F in C   x C in F\n");
	for (t = lo; t <= hi; t += step)
		printf("%4d %10.1f %10.1f\n", t, TO_C(t), TO_F(t));
	return 0;
}
