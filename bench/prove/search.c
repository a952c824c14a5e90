/* Looks for a number in a sorted table of any length up to 64. */
#include <assert.h>

int nondet_int(void);
void __VERIFIER_assume(int);

int main(void)
{
    static int table[64];
    int length = nondet_int(), key = nondet_int();
    __VERIFIER_assume(length >= 0 && length <= 64);
    for (int i = 0; i < 64; i++)
        table[i] = 3 * i + 1;
    int low = 0, high = length;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low == length || table[low] >= key);
    assert(low == 0 || table[low - 1] < key);
    return 0;
}
