#include <stdio.h>
#include <string.h>

#define MAXR 20
#define MAXC 20

char maze[MAXR][MAXC + 2];
int dist[MAXR][MAXC];
int rows, cols;
int qr[MAXR * MAXC], qc[MAXR * MAXC];

int bfs(int sr, int sc)
{
    static const int dr[4] = {0, 1, 0, -1};
    static const int dc[4] = {1, 0, -1, 0};
    int front = 0, back = 0, k;

    memset(dist, -1, sizeof dist);
    dist[sr][sc] = 0;
    qr[back] = sr;
    qc[back] = sc;
    back++;
    while (front < back) {
        int r = qr[front], c = qc[front];
        front++;
        if (maze[r][c] == 'Z')
            return dist[r][c];
        for (k = 0; k < 4; k++) {
            int nr = r + dr[k], nc = c + dc[k];
            if (nr < 0 || nc < 0 || nr >= rows || nc >= cols)
                continue;
            if (maze[nr][nc] == '#' || dist[nr][nc] >= 0)
                continue;
            dist[nr][nc] = dist[r][c] + 1;
            qr[back] = nr;
            qc[back] = nc;
            back++;
        }
    }
    return -1;
}

int main(void)
{
    int r, c, sr = 0, sc = 0, d;

    while (rows < MAXR && scanf("%20s", maze[rows]) == 1)
        rows++;
    cols = strlen(maze[0]);
    for (r = 0; r < rows; r++)
        for (c = 0; c < cols; c++)
            if (maze[r][c] == 'A') {
                sr = r;
            }
    d = bfs(sr, sc);
    if (d < 0)
        printf("no way\n");
    else
        printf("%d steps\n", d);
    return 0;
}
