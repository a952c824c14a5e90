#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char digits[] = "0123456789ABCDEF";

void convert(unsigned n, int base, char *buf)
{
    char tmp[40];
    int i = 0, j = 0;

    do {
        n /= base;
        tmp[i++] = digits[n % base];
    } while (n > 0);

    while (i > 0)
        buf[j++] = tmp[--i];
    buf[j] = '\0';
}

int main(int argc, char **argv)
{
    char buf[40];
    int base;
    unsigned n;

    if (argc != 3) {
        printf("usage: tobase number base\n");
        return 1;
    }
    n = strtoul(argv[1], NULL, 10);
    base = atoi(argv[2]);
    if (base < 2 || base > 16) {
        printf("base must be 2..16\n");
        return 1;
    }
    convert(n, base, buf);
    printf("%s (%d digits)\n", buf, (int)strlen(buf));
    return 0;
}
