// function: sort
// length: a=4
// bound: 6
// answer: fails 21
// The inner loop ends one element too early.
#include <assert.h>

static void swap(int *p, int *q)
{
    int t = *p;
    *p = *q;
    *q = t;
}

void sort(int *a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2 - i; j++)
            if (a[j] > a[j + 1]) swap(a + j, a + j + 1);
    for (int i = 0; i + 1 < 4; i++)
        assert(a[i] <= a[i + 1]);
}
