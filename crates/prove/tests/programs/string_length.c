// function: length
// length: s=6
// bound: 8
// answer: proved
#include <assert.h>
#include <string.h>
void __VERIFIER_assume(int);

int length(const char *s)
{
    __VERIFIER_assume(s[5] == 0);
    int n = 0;
    while (s[n])
        n++;
    assert(n <= 5);
    assert((unsigned long)n == strlen(s));
    return n;
}
