/* Sorts any six numbers by insertion. */
#include <assert.h>

int nondet_int(void);

int main(void)
{
    int a[6];
    for (int i = 0; i < 6; i++)
        a[i] = nondet_int();
    for (int i = 1; i < 6; i++) {
        int value = a[i], at = i;
        while (at > 0 && a[at - 1] > value) {
            a[at] = a[at - 1];
            at--;
        }
        a[at] = value;
    }
    for (int i = 1; i < 6; i++)
        assert(a[i - 1] <= a[i]);
    return 0;
}
