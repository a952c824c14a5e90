// answer: fails 9
// repair 2 1: if (x < -1)
// The paper's first example: the branch misses -1.
#include <assert.h>
int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);
int main(void) { int x = __VERIFIER_nondet_int(); int abs = x; __VERIFIER_assume(x > -1000);
    if (x < -1) abs = -x;
    assert(abs >= 0);
    return 0;
}
