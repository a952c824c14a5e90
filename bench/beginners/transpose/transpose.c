#include <stdio.h>

#define N 20

void read_matrix(int m[N][N], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            scanf("%d", &m[i][j]);
}

void transpose(int m[N][N], int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n - 1; j++) {
            int tmp = m[i][j];
            m[i][j] = m[j][i];
            m[j][i] = tmp;
        }
    }
}

void print_matrix(int m[N][N], int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            printf("%4d", m[i][j]);
        printf("\n");
    }
}

int main(void)
{
    int m[N][N];
    int n;

    scanf("%d", &n);
    read_matrix(m, n);
    transpose(m, n);
    print_matrix(m, n);
    return 0;
}
