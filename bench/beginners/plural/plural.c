#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cmp(const void *a, const void *b)
{
    return strcmp(a, b);
}

int main(void)
{
    char w[100][20];
    int n = 0, i;

    while (n < 100 && scanf("%19s", w[n]) == 1)
        n++;
    qsort(w, n, sizeof w[0], cmp);

    printf("%d guest%s", n, n > 1 ? "s" : "");
    for (i = 0; i < n; i++) {
        if (i == 0)
            printf(": ");
        else if (i == n - 1)
            printf(" and ");
        else
            printf(", ");
        printf("%s", w[i]);
    }
    printf("\n");
    return 0;
}
