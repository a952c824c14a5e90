#include <stdio.h>
#include <stdlib.h>

#define BIT(n) (1u << (n))

int popcount(unsigned x)
{
    int n = 0;
    while (x) {
        if ((x & 1) == 1)
            n++;
        x >>= 1;
    }
    return n;
}

int is_pow2(unsigned x)
{
    return x != 0 && (x & x - 1 == 0);
}

void show(unsigned x)
{
    int i;
    for (i = 7; i >= 0; i--) putchar(x & BIT(i) ? '1' : '0');
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++) {
        unsigned x = strtoul(argv[i], NULL, 0) & 0xff;
        show(x);
        printf(" ones=%d%s\n", popcount(x), is_pow2(x) ? " pow2" : "");
    }
    return 0;
}
