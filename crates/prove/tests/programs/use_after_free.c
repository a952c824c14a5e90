// function: use
// answer: fails 13
// One branch frees what the end still reads.
#include <stdlib.h>

int use(int n)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    *p = n;
    if (n == 77) free(p);
    return *p;
}
