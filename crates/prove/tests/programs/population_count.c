// function: count
// bound: 40
// answer: proved
#include <assert.h>

static int slow(unsigned x)
{
    int n = 0;
    for (int i = 0; i < 16; i++)
        n += x >> i & 1;
    return n;
}

int count(unsigned short x)
{
    unsigned v = x;
    v = v - ((v >> 1) & 0x5555);
    v = (v & 0x3333) + ((v >> 2) & 0x3333);
    v = (v + (v >> 4)) & 0x0f0f;
    v = (v + (v >> 8)) & 0x1f;
    assert((int)v == slow(x));
    return (int)v;
}
