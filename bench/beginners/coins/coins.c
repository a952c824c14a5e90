#include <stdio.h>
#include <stdlib.h>

#define LIMIT 1000
#define NONE  9999

int main(int argc, char *argv[])
{
    int coin[16], k = 0;
    int best[LIMIT + 1];
    int target, s, i;

    if (argc < 3) {
        printf("usage: coins amount coin...\n");
        return 0;
    }
    target = atoi(argv[1]);
    if (target < 0 || target > LIMIT) {
        printf("amount out of range\n");
        return 0;
    }
    for (i = 2; i < argc && k < 16; i++)
        coin[k++] = atoi(argv[i]);

    best[0] = 0;
    for (s = 1; s <= target; s++) {
        best[s] = NONE;
        for (i = 0; i < k - 1; i++) {
            if (coin[i] > 0 && coin[i] <= s && best[s - coin[i]] + 1 < best[s])
                best[s] = best[s - coin[i]] + 1;
        }
    }
    if (best[target] >= NONE)
        printf("not possible\n");
    else
        printf("%d coins\n", best[target]);
    return 0;
}
