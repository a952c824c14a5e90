#include <stdio.h>

#define MAX 100

double average(const int *v, int n)
{
    long sum = 0;
    int i;
    for (i = 0; i < n; i++)
        sum += v[i];
    return (double)sum / n;
}

int main(void)
{
    int v[MAX];
    int n = 0, x;

    while (n < MAX && scanf("%d", &x) == 1) {
        if (x < 0)
            break;
        v[n++] = x;
    }
    printf("%d values, average %.1f\n", n, average(v, n));
    return 0;
}
