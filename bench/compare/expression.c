/* Values of sums and products with parentheses, of one digit numbers, read from standard input. */
#include <stdio.h>

static int next;

static void advance(void)
{
    do {
        next = getchar();
    } while (next == ' ');
}

static int sum(int depth);

static int factor(int depth)
{
    int value = 0;
    if (next == '-') {
        advance();
        return -factor(depth + 1);
    }
    if (next == '(' && depth < 4) {
        advance();
        value = sum(depth + 1);
        if (next == ')')
            advance();
        return value;
    }
    while (next >= '0' && next <= '9') {
        if (value < 1000)
            value = value * 10 + (next - '0');
        advance();
    }
    return value;
}

static int product(int depth)
{
    int value = factor(depth);
    while (next == '*' || next == '%') {
        int operator = next;
        int right;
        advance();
        right = factor(depth);
        if (operator == '%' && right != 0)
            value %= right;
        else if (operator == '*' && value < 1000 && value > -1000 && right < 1000 && right > -1000)
            value *= right;
    }
    return value;
}

static int sum(int depth)
{
    int value = product(depth);
    while (next == '+' || next == '-') {
        int operator = next;
        int right;
        advance();
        right = product(depth);
        if (operator == '+')
            value += right;
        else
            value -= right;
    }
    return value;
}

int main(void)
{
    advance();
    printf("%d\n", sum(0));
    if (next != '\n' && next != EOF) {
        printf("rest\n");
        return 1;
    }
    return 0;
}
