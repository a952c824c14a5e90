// function: parse
// length: s=4
// bound: 6
// answer: proved
#include <assert.h>
void __VERIFIER_assume(int);

int parse(const char *s)
{
    int value = 0;
    __VERIFIER_assume(s[3] == 0);
    for (int i = 0; s[i] >= '0' && s[i] <= '9'; i++)
        value = value * 10 + (s[i] - '0');
    assert(value >= 0 && value <= 999);
    return value;
}
