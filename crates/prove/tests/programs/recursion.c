// function: check
// bound: 12
// answer: proved
#include <assert.h>
void __VERIFIER_assume(int);

static int triangle(int n)
{
    if (n <= 0)
        return 0;
    return n + triangle(n - 1);
}

void check(int n)
{
    __VERIFIER_assume(n >= 0 && n < 8);
    assert(triangle(n) == n * (n + 1) / 2);
}
