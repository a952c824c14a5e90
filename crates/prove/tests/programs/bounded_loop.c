// function: climb
// bound: 5
// answer: bounded
// It holds, and the loop is longer than the bound.
#include <assert.h>

int climb(unsigned char n)
{
    int i = 0;
    while (i < n)
        i++;
    assert(i == n);
    return i;
}
