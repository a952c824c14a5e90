// function: is_power
// answer: fails 11
// repair 1 1: (x & (x - 1)) == 0
// Zero is no power of two, and the mask is made by an addition.
#include <assert.h>
#include <stdbool.h>

bool is_power(unsigned char x)
{
    bool result = x != 0 && (x & (x + 1)) == 0;
    assert(!result || x == 1 || x == 2 || x == 4 || x == 8 || x == 16 || x == 32 || x == 64 || x == 128);
    return result;
}
