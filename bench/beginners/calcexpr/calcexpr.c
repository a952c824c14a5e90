#include <stdio.h>
#include <ctype.h>

const char *p;

int expr(void);

void skip(void) { while (*p == ' ') p++; }

int factor(void)
{
    int v = 0;

    skip();
    if (*p == '(') {
        p++;
        v = expr();
        skip();
        return v;
    }
    if (*p == '-') {
        p++;
        return -factor();
    }
    while (isdigit((unsigned char)*p))
        v = v * 10 + *p++ - '0';
    return v;
}

int term(void)
{
    int v = factor();
    for (;;) {
        skip();
        if (*p == '*') { p++; v *= factor(); }
        else if (*p == '/') {
            int d;
            p++;
            d = factor();
            v = d ? v / d : 0;
        }
        else return v;
    }
}

int expr(void)
{
    int v = term();
    for (;;) {
        skip();
        if (*p == '+') { p++; v += term(); }
        else if (*p == '-') { p++; v -= term(); }
        else return v;
    }
}

int main(void)
{
    char line[200];
    while (fgets(line, sizeof line, stdin)) {
        p = line;
        printf("%d\n", expr());
    }
    return 0;
}
