/* Gaussian elimination, with matrices on the heap, and a Fibonacci matrix power. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int rows, columns; double *cell; } matrix;

static matrix make(int rows, int columns) {
  matrix m = { rows, columns, calloc((size_t)rows * columns, sizeof(double)) };
  assert(m.cell);
  return m;
}
#define AT(m, i, j) ((m).cell[(i) * (m).columns + (j)])

static matrix times(matrix a, matrix b) {
  assert(a.columns == b.rows);
  matrix c = make(a.rows, b.columns);
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < b.columns; j++)
      for (int k = 0; k < a.columns; k++) AT(c, i, j) += AT(a, i, k) * AT(b, k, j);
  return c;
}

static int solve(matrix m, double *x) {
  int n = m.rows;
  for (int col = 0; col < n; col++) {
    int best = col;
    for (int row = col + 1; row < n; row++)
      if (fabs(AT(m, row, col)) > fabs(AT(m, best, col))) best = row;
    if (fabs(AT(m, best, col)) < 1e-12) return 0;
    for (int j = 0; j <= n; j++) { double t = AT(m, col, j); AT(m, col, j) = AT(m, best, j); AT(m, best, j) = t; }
    for (int row = col + 1; row < n; row++) {
      double f = AT(m, row, col) / AT(m, col, col);
      for (int j = col; j <= n; j++) AT(m, row, j) -= f * AT(m, col, j);
    }
  }
  for (int row = n - 1; row >= 0; row--) {
    x[row] = AT(m, row, n);
    for (int j = row + 1; j < n; j++) x[row] -= AT(m, row, j) * x[j];
    x[row] /= AT(m, row, row);
  }
  return 1;
}

int main(void) {
  int n;
  if (scanf("%d", &n) != 1 || n < 1 || n > 10) { puts("bad size"); return 1; }
  matrix m = make(n, n + 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n; j++)
      if (scanf("%lf", &AT(m, i, j)) != 1) { puts("bad input"); return 1; }
  double x[10];
  if (solve(m, x)) for (int i = 0; i < n; i++) printf("x%d = %.4f\n", i, x[i]);
  else puts("singular");
  matrix f = make(2, 2), p = make(2, 2);
  AT(f, 0, 0) = AT(f, 0, 1) = AT(f, 1, 0) = 1; AT(p, 0, 0) = AT(p, 1, 1) = 1;
  for (int i = 0; i < 30; i++) { matrix q = times(p, f); free(p.cell); p = q; }
  printf("fib %.0f\n", AT(p, 0, 1));
  free(m.cell); free(f.cell); free(p.cell);
  return 0;
}
