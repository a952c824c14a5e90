// function: clamp
// answer: fails 11
// A number that is none passes every comparison.
#include <assert.h>

double clamp(double x)
{
    if (x < 0.0)
        x = 0.0;
    if (x > 1.0) x = 1.0;
    assert(x >= 0.0 && x <= 1.0);
    return x;
}
