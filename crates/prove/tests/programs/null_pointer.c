// function: first
// answer: fails 10
// Nobody looks whether there is memory.
#include <stdlib.h>

int first(unsigned char n)
{
    int *p = n > 100 ? 0 : malloc(sizeof(int) * 4);
    if (n > 100 && n < 102)
        p[0] = n;
    int result = n;
    free(p);
    return result;
}
