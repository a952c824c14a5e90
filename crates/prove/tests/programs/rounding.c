// answer: proved
#include <math.h>
extern double __VERIFIER_nondet_double(void);
extern void __VERIFIER_assert(int);

int main(void)
{
    double x = __VERIFIER_nondet_double();
    if (isnan(x)) {
        __VERIFIER_assert(x != x && !isfinite(x));
        return 0;
    }
    __VERIFIER_assert(floor(x) <= x && x <= ceil(x));
    __VERIFIER_assert(fmax(x, 1.0) >= 1.0 && fabs(x) >= 0.0);
    return 0;
}
