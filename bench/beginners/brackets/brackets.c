#include <stdio.h>

char stack[256];
int top = 0;

int partner(int c)
{
    switch (c) {
    case ')': return '(';
    case ']': return '[';
    case '}': return '{';
    }
    return 0;
}

int check(const char *s)
{
    top = 0;
    for (; *s && *s != '\n'; s++) {
        if (*s == '(' || *s == '[' || *s == '{') {
            stack[top++] = *s;
        } else if (partner(*s)) {
            if (top == 0 || stack[--top] != partner(*s))
                return 0;
        }
    }
    return top >= 0;
}

int main(void)
{
    char line[256];
    int no = 0;

    while (fgets(line, sizeof line, stdin)) {
        no++;
        printf("line %d: %s\n", no, check(line) ? "ok" : "unbalanced");
    }
    return 0;
}
