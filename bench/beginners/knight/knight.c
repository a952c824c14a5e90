#include <stdio.h>
#include <ctype.h>

/* lists where a knight can jump to from squares like b1 */

int dx[] = {1, 2, 2, 1, -1, -2, -2, -1};
int dy[] = {2, 1, -1, -2, -2, -1, 1, 2};

int main(void)
{
    char sq[8];
    int k, n;

    while (scanf("%7s", sq) == 1) {
        int x = tolower((unsigned char)sq[0]) - 'a';
        int y = sq[1] - '1';

        if (x < 0 || x >= 8 || y < 0 || y >= 8) {
            printf("%s: not on the board\n", sq);
            continue;
        }
        printf("%s:", sq);
        n = 0;
        for (k = 0; k < 8; k++) {
            int nx = x + dx[k];
            int ny = y + dy[k];
            if (nx < 0 || nx > 8)
                continue;
            if (ny < 0 || ny > 8)
                continue;
            printf(" %c%d", nx + 'a', ny + 1);
            n++;
        }
        printf(" (%d)\n", n);
    }
    return 0;
}
