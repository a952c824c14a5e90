/* The functions of math.h, by the bits of their results and errno, for what is special and what is not. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* So that the compiler calculates nothing. */
static volatile double some[] = {
    0, 1, 0.5, 1.5, 2, 2.5, 3, 3.5, 0.1, 0.7, 10, 100.25, 0.49999999999999994, 3.141592653589793, 3.7, 42,
    709.9, 745.2, 1e-5, 1e10, 1e18, 9223372036854775807.0, 4611686018427387904.0, 4503599627370497.5, 2147483648.0,
    1e22, 3.5e38, 1e300, 1.7976931348623157e308, 1e-300, 2.2250738585072014e-308, 1e-310, 4.9e-324, 1e-40,
    1.17549435e-38, INFINITY, NAN};
#define COUNT ((int)(2 * sizeof some / sizeof *some))

static double value(int i)
{
    double x = some[i / 2];
    return i % 2 ? -x : x;
}

static unsigned long sum;

static void see(const char *name, double x, double y, unsigned long bits)
{
    if (name)
        printf("%s(%a, %a) = %lx, %d\n", name, x, y, bits, errno);
    sum = (sum ^ bits ^ (unsigned long)errno) * 1099511628211ul;
    errno = 0;
}

static unsigned long of_double(double x) { unsigned long b; memcpy(&b, &x, sizeof b); return b; }
static unsigned long of_float(float x) { unsigned b; memcpy(&b, &x, sizeof b); return b; }
static unsigned long of_long(long x) { return (unsigned long)x; }

#define ONE(f, of) for (int i = 0; i < COUNT; i++) see(#f, value(i), 0, of(f(value(i))));
#define BOTH(name) ONE(name, of_double) ONE(name##f, of_float)
/* gcc calls fmax(y, x) for fmax(x, y) at will, so which zero or NaN is the result is not seen. */
static int either(const char *name, int i, int j)
{
    int is_extreme = !strcmp(name, "fmax") || !strcmp(name, "fmin");
    int zeros = (float)value(i) == 0 && (float)value(j) == 0, nans = isnan(value(i)) && isnan(value(j));
    return is_extreme && (zeros || nans);
}

#define TWO(name) \
    for (int i = 0; i < COUNT; i++) { \
        for (int j = 0; j < COUNT; j++) { \
            if (either(#name, i, j)) \
                continue; \
            see(PRINTED(name), value(i), value(j), of_double(name(value(i), value(j)))); \
            see(PRINTED(name##f), value(i), value(j), of_float(name##f(value(i), value(j)))); \
        } \
    } \
    printf("%s %lx\n", #name, sum); \
    sum = 0;
#ifdef ALL
#define PRINTED(f) #f
#else
#define PRINTED(f) NULL
#endif

int main(void)
{
    BOTH(fabs) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(round) BOTH(rint) BOTH(nearbyint) BOTH(sqrt)
    BOTH(sin) BOTH(cos) BOTH(tan) BOTH(asin) BOTH(acos) BOTH(atan) BOTH(sinh) BOTH(cosh) BOTH(tanh)
    BOTH(asinh) BOTH(acosh) BOTH(atanh) BOTH(exp) BOTH(exp2) BOTH(exp10) BOTH(expm1) BOTH(log) BOTH(log2)
    BOTH(log10) BOTH(log1p) BOTH(logb) BOTH(cbrt) BOTH(tgamma)
    ONE(lround, of_long) ONE(lroundf, of_long) ONE(llround, of_long) ONE(llroundf, of_long)
    ONE(lrint, of_long) ONE(lrintf, of_long) ONE(llrint, of_long) ONE(llrintf, of_long)
    ONE(lroundl, of_long) ONE(llroundl, of_long) ONE(lrintl, of_long) ONE(llrintl, of_long)
    ONE(ilogb, of_long) ONE(ilogbf, of_long)
    TWO(pow) TWO(atan2) TWO(hypot) TWO(fmod) TWO(fmax) TWO(fmin) TWO(fdim) TWO(copysign) TWO(remainder)
    TWO(nextafter)
    for (int i = 0; i < COUNT; i++) {
        double x = value(i), whole;
        float f = (float)x, whole_single;
        int exponent = 0;
        see("frexp", x, 0, of_double(frexp(x, &exponent)));
        see("", 0, 0, of_long(exponent));
        see("frexpf", x, 0, of_float(frexpf(f, &exponent)));
        see("", 0, 0, of_long(exponent));
        see("modf", x, 0, of_double(modf(x, &whole)));
        see("", 0, 0, of_double(whole));
        see("modff", x, 0, of_float(modff(f, &whole_single)));
        see("", 0, 0, of_float(whole_single));
        double sine, cosine;
        sincos(x, &sine, &cosine);
        see("sincos", x, 0, of_double(sine) ^ of_double(cosine));
        for (int by = -2200; by <= 2200; by += 97) {
            see(NULL, x, by, of_double(ldexp(x, by)));
            see(NULL, x, by, of_double(scalbln(x, by)));
            see(NULL, x, by, of_float(ldexpf(f, by / 8)));
            see(NULL, x, by, of_float(scalblnf(f, by / 8)));
        }
        for (int j = 0; j < COUNT; j++) {
            int quotient = 0;
            double rest = remquo(x, value(j), &quotient);
            see(NULL, x, value(j), of_double(rest) ^ (quotient & 7));
            /* glibc leaves it as it is where there is no quotient. */
            quotient = 0;
            rest = remquof(f, value(j), &quotient);
            see(NULL, x, value(j), of_float(rest) ^ (quotient & 7));
            see(NULL, x, value(j), of_double(fma(x, value(j), 3.7)));
            see(NULL, x, value(j), of_float(fmaf(f, value(j), 3.7f)));
            if (!isnan(x) || !isnan(value(j)))
                see(NULL, x, value(j), of_double(nexttoward(x, value(j))));
        }
        printf("%a %lx\n", x, sum);
        sum = 0;
    }
    return 0;
}
