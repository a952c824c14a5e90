// function: table
// bound: 6
// answer: proved
#include <assert.h>
void __VERIFIER_assume(int);

int table(int n, int m)
{
    int count = 0;
    __VERIFIER_assume(n >= 0 && n <= 4 && m >= 0 && m <= 4);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            count++;
    assert(count == n * m);
    return count;
}
