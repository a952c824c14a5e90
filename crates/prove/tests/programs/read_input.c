// answer: fails 12
// The numbers come from standard input.
#include <assert.h>
#include <stdio.h>

int main(void)
{
    int a, b;
    if (scanf("%d %d", &a, &b) != 2)
        return 0;
    if (a > 0 && b > 0 && a < 1000 && b < 1000)
        assert(a + b != 77 || a < 70);
    return 0;
}
