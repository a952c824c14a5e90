#include <stdio.h>
#include <stdlib.h>

typedef struct { int num, den; } Frac;

int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }

Frac reduce(Frac f)
{
    int g = gcd(abs(f.num), abs(f.den));
    if (f.den < 0)
        g = -g;
    f.num /= g;
    f.den /= g;
    return f;
}

Frac add(Frac a, Frac b)
{
    Frac r;
    r.num = a.num * b.den + b.num * b.den;
    r.den = a.den * b.den;
    return reduce(r);
}

Frac mul(Frac a, Frac b)
{
    Frac r;
    r.num = a.num * b.num;
    r.den = a.den * b.den;
    return reduce(r);
}

int main(void)
{
    Frac a, b, r;
    char op;

    while (scanf("%d/%d %c %d/%d", &a.num, &a.den, &op, &b.num, &b.den) == 5) {
        if (a.den == 0 || b.den == 0) {
            printf("division by zero\n");
            continue;
        }
        if (op == '+') {
            r = add(a, b);
        } else if (op == '-') {
            b.num = -b.num;
            r = add(a, b);
        } else {
            r = mul(a, b);
        }
        if (r.den == 1)
            printf("%d\n", r.num);
        else
            printf("%d/%d\n", r.num, r.den);
    }
    return 0;
}
