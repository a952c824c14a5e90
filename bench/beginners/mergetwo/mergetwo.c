#include <stdio.h>
#define MAX 100

int merge(int *a, int na, int *b, int nb, int *c)
{
    int i = 0, j = 0, k = 0;

    while (i < na && j < nb) {
        if (a[i] <= b[j])
            c[k++] = a[i++];
        else
            c[k++] = b[j++];
    }
    while (i < na)
        c[k++] = a[i++];
    while (j < nb)
        c[k++] = b[i++];
    return k;
}

int readlist(int *v)
{
    int n, i;
    if (scanf("%d", &n) != 1)
        return 0;
    for (i = 0; i < n; i++)
        scanf("%d", v + i);
    return n;
}

int main(void)
{
    int a[MAX], b[MAX], c[2 * MAX];
    int na, nb, nc, i;

    na = readlist(a);
    nb = readlist(b);
    nc = merge(a, na, b, nb, c);
    for (i = 0; i < nc; i++)
        printf("%d%s", c[i], i < nc - 1 ? ", " : "");
    printf("\n");
    return 0;
}
