// function: check
// bound: 8
// answer: proved
#include <assert.h>
void __VERIFIER_assume(int);

static unsigned gcd(unsigned a, unsigned b)
{
    while (b != 0) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}

void check(unsigned char a, unsigned char b)
{
    __VERIFIER_assume(a < 16 && b < 16 && a > 0);
    unsigned g = gcd(a, b);
    assert(g > 0);
    assert(a % g == 0 && b % g == 0);
}
