/* Floats that are read from texts: their bits, where they end, and errno. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *texts[] = {
    "", " ", "0", "-0", "+", "-", "+-1", ".", "-.", ".5", "5.", "-5.e2", "1e", "1e+", "1e+2", "1e5x", " \t\v12.25abc", "1.5.2", "1e5e5",
    "0x", "0xg", "0x.", "0x1", "-0x10", "0x1.8p3", "0X1.8P+3", "0x.8p-1", "0x1p", "0x1p+", "0x1.fffffffffffff8p0", "0x1.00000000000008p0",
    "0x1.000000000000080000000000000001p0", "0x123456789abcdef0123456789p-7", "0x0p99999", "0x1e+3", "0x1p0x1",
    "inf", "-inf", "INFINITY", "+infinitesimal", "in", "i", "infx", "nan", "-NaN", "nan(", "nan()", "nan(12)x", "NAN(0x7f)", "nan(a_b)", "nan(1-2)", "na", "n",
    "1e400", "-1e400", "1e-400", "-1e-400", "1e5000", "1e-5000", "-1e-4940", "1e999999999999", "1e-999999999999", "0e999999999999",
    "0x1p1024", "0x1p-1074", "0x1p-1075", "0x1.8p-1074", "0x3p-1075", "0x1p-1022", "0x1p-1023", "0x1.00000001p-1030", "0x1.8p-1030", "1e-310", "4.9e-324",
    "2.2250738585072011e-308", "2.2250738585072012e-308", "2.2250738585072014e-308", "2.22507385850720133e-308", "0x0.fffffffffffffcp-1022", "0x0.fffffffffffff8p-1022",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "0x1.fffffffffffff8p1023", "0x1.fffffffffffff7p1023",
    "3.4028235e38", "3.4028236e38", "3.4e39", "1e-38", "1e-40", "1e-45", "1e-46", "1.1754943e-38", "1.17549435e-38", "0x1.fffffep-127", "0x1.ffffffp-127", "0x0.ffffffcp-126", "0x1p-149", "0x1p-150",
    "0x1p16383", "0x1p16384", "0x1.fffffffffffffffp16383", "0x1.fffffffffffffffep16383", "0x1.ffffffffffffffffp16383", "0x1p-16382", "0x1p-16383", "0x1p-16445", "0x1p-16446", "0x1.8p-16446", "0x1.8p-16445",
    "0x0.ffffffffffffffffp-16382", "0x0.fffffffffffffffep-16382", "0x0.ffffffffffffffff8p-16382", "1.18973149535723176502e+4932", "1.18973149535723176509e+4932", "3.6e-4951", "1.8e-4951", "3.3621031431120935063e-4932", "3.3621031431120935062e-4932",
    "0.1", "0.3", "123456789012345678901234567890", "9007199254740993", "9007199254740992.99999999999999999999999", "8.5e15", "1.00000005960464477539062500000000000000001"};

static void bytes(const void *of, int size)
{
    const unsigned char *at = of;
    while (size-- > 0)
        printf("%02x", at[size]);
}

int main(void)
{
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i];
        char *end = NULL;
        printf("[%s]", text);
        errno = 0;
        double d = strtod(text, &end);
        printf(" d %d %d ", (int)(end - text), errno);
        bytes(&d, 8);
        errno = 0;
        float f = strtof(text, &end);
        printf(" f %d %d ", (int)(end - text), errno);
        bytes(&f, 4);
        errno = 0;
        long double l = strtold(text, &end);
        printf(" l %d %d ", (int)(end - text), errno);
        bytes(&l, 10);
        errno = 0;
        d = atof(text);
        printf(" a %d ", errno);
        bytes(&d, 8);
        static const char *formats[] = {"%lf%n", "%1lg%n", "%2la%n", "%3lE%n", "%4lf%n", "%5lf%n", "%6lf%n", "%8lG%n", "x%lf%n"};
        for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
            int n = -1;
            d = -7;
            errno = 0;
            int found = sscanf(text, formats[k], &d, &n);
            printf(" %d %d %d ", found, n, errno);
            bytes(&d, 8);
        }
        f = -7;
        errno = 0;
        int found = sscanf(text, "%f", &f);
        printf(" %d %d ", found, errno);
        bytes(&f, 4);
        l = -7;
        errno = 0;
        found = sscanf(text, "%La", &l);
        printf(" %d %d ", found, errno);
        bytes(&l, 10);
        char rest[9] = "?";
        found = sscanf(text, "%*f%8s", rest);
        printf(" %d %s\n", found, rest);
    }
    return 0;
}
