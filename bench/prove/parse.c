/* Reads a decimal number from standard input. */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    unsigned value = 0;
    int digits = 0, c;
    while ((c = getchar()) >= '0' && c <= '9') {
        if (value > 999)
            return 1;
        value = 10 * value + (c - '0');
        digits++;
    }
    assert(value <= 9999);
    assert(digits > 0 || value == 0);
    return 0;
}
