/* Keeps a value within two bounds. The upper bound is checked wrongly. */
#include <assert.h>

int clamp(int value, int low, int high)
{
    if (value < low)
        value = low;
    if (value < high)
        value = high;
    assert(low > high || (value >= low && value <= high));
    return value;
}
