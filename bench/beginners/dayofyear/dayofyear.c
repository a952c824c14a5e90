#include <stdio.h>

int is_leap(int y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

int main(void)
{
    int mdays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int d, m, y;
    int i, total;

    while (scanf("%d.%d.%d", &d, &m, &y) == 3) {
        if (m < 1 || m > 12) {
            printf("bad month\n");
            continue;
        }
        total = 0;
        for (i = 0; i < m - 1; i++)
            total += mdays[i];
        total += d;
        if (is_leap(y) && m >= 2)
            total++;
        printf("%d.%d.%d is day %d\n", d, m, y, total);
    }
    return 0;
}
