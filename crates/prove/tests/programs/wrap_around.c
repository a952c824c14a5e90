// function: newer
// answer: fails 9
// Sequence numbers are compared without regard to their wrapping round.
#include <assert.h>

int newer(unsigned char a, unsigned char distance)
{
    unsigned char b = (unsigned char)(a + distance);
    int result = b > a; assert(distance == 0 || distance > 127 || result);
    return result;
}
