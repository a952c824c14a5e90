// function: largest
// length: a=4
// answer: fails 16
// repair 2 1: a[i] > best
// The greatest element of an array: the comparison is turned round.
#include <assert.h>

int largest(const int *a)
{
    int best = a[0];
    for (int i = 1; i < 4; i++) {
        if (a[i] < best)
            best = a[i];
    }
    for (int i = 0; i < 4; i++)
        assert(a[i] <= best);
    return best;
}
