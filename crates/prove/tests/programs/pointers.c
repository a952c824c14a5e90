// function: swap_if
// length: a=1
// length: b=1
// answer: fails 12
// repair 2 1: *a > *b
// The greater value must end up second.
#include <assert.h>

void swap_if(int *a, int *b)
{
    if (*a < *b) { int t = *a; *a = *b; *b = t; }
    assert(*a <= *b);
}
