#include <stdio.h>

typedef struct {
    char city[24];
    int t[7];
} Week;

int warmest(Week *w)
{
    int i, max = 0;
    for (i = 0; i < 7; i++)
        if (w->t[i] > max) max = w->t[i];
    return max;
}

int coldest(Week *w)
{
    int i, min = w->t[0];
    for (i = 0; i < 7; i++)
        if (w->t[i] < min) min = w->t[i];
    return min;
}

int main()
{
    Week w;
    int i;
    while (scanf("%23s", w.city) == 1) {
        for (i = 0; i < 7; i++) {
            if (scanf("%d", &w.t[i]) != 1) {
                printf("%s: incomplete\n", w.city);
                return 0;
            }
        }
        printf("%s: %d to %d\n", w.city, coldest(&w), warmest(&w));
    }
    return 0;
}
