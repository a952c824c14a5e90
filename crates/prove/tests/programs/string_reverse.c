// function: reverse
// length: s=5
// bound: 8
// answer: fails 17
// The last character is taken one too far.
#include <assert.h>
#include <string.h>
void __VERIFIER_assume(int);

void reverse(char *s)
{
    char copy[5];
    __VERIFIER_assume(s[4] == 0 && s[0] != 0 && s[1] != 0 && s[2] == 0);
    strcpy(copy, s);
    int n = 2;
    for (int i = 0; i < n / 2; i++) { char t = s[i]; s[i] = s[n - i]; s[n - i] = t; }
    assert(s[0] == copy[1]); assert(s[1] == copy[0]);
}
