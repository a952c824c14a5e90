#include <stdio.h>

struct article {
    char name[20];
    int qty;
    int cents;
};

void line(const char *what, int cents)
{
    printf("%-16s %5d.%2d\n", what, cents / 100, cents % 100);
}

int main(void)
{
    struct article a;
    int sum = 0, tax;

    while (scanf("%19s %d %d", a.name, &a.qty, &a.cents) == 3) {
        int c = a.qty * a.cents;
        line(a.name, c);
        sum += c;
    }
    if (sum >= 10000) {
        line("discount 5%", sum / 20);
        sum -= sum / 20;
    }
    tax = sum * 19 / 119;
    printf("------------------------\n");
    line("total", sum);
    line("incl. tax", tax);
    return 0;
}
