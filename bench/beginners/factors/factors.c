#include <stdio.h>
#include <stdlib.h>

void factorize(int n)
{
    int first = 1;
    int p = 2;

    printf("%d = ", n);
    while (n > 1) {
        if (n % p == 0) {
            int e = 0;
            while (n % p == 0) {
                n /= p;
                e++;
            }
            if (!first) printf(" * ");
            first = 0;
            printf("%d", p);
            if (e > 1) printf("^%d", e);
        }
        p++;
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    while (*++argv)
        factorize(atoi(*argv));
    return 0;
}
