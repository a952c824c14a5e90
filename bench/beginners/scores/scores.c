#include <stdio.h>
#include <string.h>

struct player {
    char name[20];
    int score;
};

void bubble(struct player p[], int n)
{
    int i, j;
    struct player tmp;

    for (i = 0; i < n - 1; i++) {
        for (j = 0; j < n - 2 - i; j++) {
            if (p[j].score < p[j + 1].score) {
                tmp = p[j];
                p[j] = p[j + 1];
                p[j + 1] = tmp;
            }
        }
    }
}

int main(void)
{
    struct player p[50];
    int n = 0, i;

    while (n < 50 && scanf("%19s %d", p[n].name, &p[n].score) == 2)
        n++;
    bubble(p, n);
    for (i = 0; i < n && i < 3; i++)
        printf("%d. %s %d\n", i + 1, p[i].name, p[i].score);
    if (n == 0)
        printf("no players\n");
    return 0;
}
