// function: find
// length: a=7
// bound: 8
// answer: proved
#include <assert.h>
void __VERIFIER_assume(int);

int find(const int *a, int wanted)
{
    int low = 0, high = 6;
    for (int i = 0; i < 6; i++)
        __VERIFIER_assume(a[i] < a[i + 1]);
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == wanted)
            return middle;
        if (a[middle] < wanted)
            low = middle + 1;
        else
            high = middle - 1;
    }
    for (int i = 0; i < 7; i++)
        assert(a[i] != wanted);
    return -1;
}
