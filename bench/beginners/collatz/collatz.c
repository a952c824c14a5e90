#include <stdio.h>
#include <stdlib.h>

static int steps(long n) { int s = 0; for (; n != 1; s++) n = n % 2 ? 3 * n + 1 : n / 2; return s; }

int main(int argc, char *argv[])
{
    int from, to, i, best, bestn;

    if (argc != 3) {
        puts("need two numbers");
        return 0;
    }
    from = atoi(argv[1]);
    to = atoi(argv[2]);
    if (from < 1 || to < from) {
        puts("bad range");
        return 0;
    }
    best = -1;
    bestn = 0;
    for (i = from; i <= to; i++) {
        int s = steps(i);
        if (s >= best) {
            best = s;
            bestn = i;
        }
    }
    printf("%d takes %d steps\n", bestn, best);
    return 0;
}
