#include <stdio.h>
#include <string.h>

#define H 8
#define W 8

char g[H][W + 2], nx[H][W + 2];

int alive(int r, int c)
{
    if (r < 0 || r >= H || c < 0 || c >= W)
        return 0;
    return g[r][c] == '#';
}

int neighbours(int r, int c)
{
    int dr, dc, n = 0;
    for (dr = -1; dr <= 1; dr++)
        for (dc = -1; dc <= 1; dc++)
            if (dr != 0 || dc != 0)
                n += alive(r + dr, c + dc);
    return n;
}

void step(void)
{
    int r, c;
    for (r = 0; r < H; r++) {
        for (c = 0; c < W; c++) {
            int n = neighbours(r, c);
            if (alive(r, c))
                nx[r][c] = (n < 2 || n >= 3) ? '.' : '#';
            else
                nx[r][c] = n == 3 ? '#' : '.';
        }
    }
    memcpy(g, nx, sizeof g);
}

int main(void)
{
    int gens, i, r, c, x, y;

    for (r = 0; r < H; r++)
        for (c = 0; c < W; c++)
            g[r][c] = '.';
    if (scanf("%d", &gens) != 1)
        return 1;
    while (scanf("%d %d", &x, &y) == 2)
        if (x >= 0 && x < H && y >= 0 && y < W)
            g[x][y] = '#';
    for (i = 0; i < gens; i++)
        step();
    for (r = 0; r < H; r++) {
        for (c = 0; c < W; c++)
            putchar(g[r][c]);
        putchar('\n');
    }
    return 0;
}
