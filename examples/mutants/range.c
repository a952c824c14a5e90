#include <stdio.h>
#include <stdlib.h>

/* The nearest number within a range. */
static int clamp(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: range NUMBER\n");
        return 2;
    }
    printf("%d\n", clamp(atoi(argv[1]), 10, 100));
    return 0;
}
