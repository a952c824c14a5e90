// function: add
// answer: proved
#include <assert.h>

unsigned add(unsigned a, unsigned b)
{
    unsigned sum = a + b;
    if (sum < a)
        sum = 0xffffffffu;
    assert(sum >= a && sum >= b);
    assert(sum == 0xffffffffu || sum - b == a);
    return sum;
}
