/* The smallest of three numbers. */
#include <stdio.h>
#include <stdlib.h>

static int smallest(int a, int b, int c)
{
    int least = a;
    if (b < least)
        least = b;
    if (c < least)
        least = c;
    return least;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        printf("usage\n");
        return 1;
    }
    printf("%d\n", smallest(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
    return 0;
}
