#include <stdio.h>
#include <string.h>

#define MAXL 100
#define MAX(a,b) ((a) > (b) ? (a) : (b))

int t[MAXL + 1][MAXL + 1];

int main(void)
{
    char x[MAXL + 1], y[MAXL + 1], out[MAXL + 1];
    int i, j, n, m, k;

    while (scanf("%100s %100s", x, y) == 2) {
        n = strlen(x);
        m = strlen(y);
        for (i = 0; i <= n; i++) t[i][0] = 0;
        for (j = 0; j <= m; j++) t[0][j] = 0;
        for (i = 1; i <= n; i++)
            for (j = 1; j <= m; j++)
                if (x[i] == y[j])
                    t[i][j] = t[i - 1][j - 1] + 1;
                else
                    t[i][j] = MAX(t[i - 1][j], t[i][j - 1]);

        /* walk back to recover the string */
        k = t[n][m];
        out[k] = '\0';
        i = n; j = m;
        while (i > 0 && j > 0) {
            if (x[i - 1] == y[j - 1]) {
                out[--k] = x[i - 1];
                i--; j--;
            } else if (t[i - 1][j] >= t[i][j - 1])
                i--;
            else
                j--;
        }
        printf("%d %s\n", t[n][m], out);
    }
    return 0;
}
