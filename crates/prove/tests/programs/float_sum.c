// function: half
// answer: proved
#include <assert.h>

float half(short n)
{
    float x = n;
    float h = x / 2.0f;
    assert(h + h == x);
    return h;
}
