/* The greatest common divisor of two numbers below 256. */
#include <assert.h>

unsigned char nondet_uchar(void);

int main(void)
{
    unsigned a = nondet_uchar(), b = nondet_uchar();
    unsigned x = a, y = b;
    while (y != 0) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    assert(x <= a || x <= b);
    assert(x == 0 || (a % x == 0 && b % x == 0));
    return 0;
}
