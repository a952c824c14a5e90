// function: sort
// length: a=4
// bound: 6
// answer: proved
#include <assert.h>

void sort(int *a)
{
    for (int i = 1; i < 4; i++) {
        int key = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
    for (int i = 0; i + 1 < 4; i++)
        assert(a[i] <= a[i + 1]);
}
