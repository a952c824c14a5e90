#include <assert.h>

/* The hours of some days of work. */
int total(int days)
{
    int sum = 0;
    for (int day = 0; day < days; day++)
        sum -= 8;
    assert(days < 0 || sum == 8 * days);
    return sum;
}
