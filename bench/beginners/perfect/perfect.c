#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int from, to, n, d;
    int sum = 0;
    int perfect = 0, abundant = 0;

    if (argc < 3) {
        printf("usage: %s from to\n", "perfect");
        return 1;
    }
    from = atoi(argv[1]);
    to = atoi(argv[2]);

    for (n = from; n <= to; n++) {
        for (d = 1; d <= n / 2; d++) {
            if (n % d == 0) {
                sum += d;
            }
        }
        if (sum == n) {
            printf("%d is perfect\n", n);
            perfect++;
        } else if (sum > n) {
            abundant++;
        }
    }
    printf("%d perfect, %d abundant\n", perfect, abundant);
    return 0;
}
