/* Arrays of variable length: locals, parameters of two dimensions, typedefs, pointers, sizeof, in loops and with effects. */
#include <stdio.h>
#include <string.h>

enum { THREE = 3 };
struct shape { int rows, cols; };
static int calls;
static int width(int n) { calls++; return n + 1; }

static int trace(int n, int m[n][n]) { int t = 0; for (int i = 0; i < n; i++) t += m[i][i]; return t; }
static long sum(int rows, int cols, long a[rows][cols + 1]) { long t = 0; for (int i = 0; i < rows; i++) for (int j = 0; j <= cols; j++) t += a[i][j]; return t; }
static int effect(int i, int a[i++]) { return i; }
static int effects(int n, int m, int a[n++][m], char b[static n++]) { return n * 100 + (int)(sizeof *a / sizeof **a); }
static char *fill(char *to, int n) { char text[n + 1]; memset(text, 'a' + n, n); text[n] = 0; return strcpy(to, text); }
static int recursive(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i; return n == 1 ? a[0] : a[n - 1] + recursive(n - 1); }
static size_t types(int n) {
  typedef short row[n];
  n = 99;
  row a, b[2];
  row *p = b;
  p[1][2] = 7;
  return sizeof a + sizeof b * 10 + sizeof(row) * 100 + sizeof *p * 1000 + b[1][2] * 100000;
}
static int loop(int n) {
  int total = 0;
  for (int i = 1; i <= n; i++) {
    int a[i], *end = a + i;
    a[i - 1] = i;
    if (i == 2)
      continue;
    total += a[i - 1] + (int)sizeof a + (int)(end - a);
  }
  int i = 0;
again:;
  char b[++i];
  total += sizeof b;
  if (i < 3)
    goto again;
  return total;
}

int main(int argc, char **argv) {
  int n = argc + 3, m[n][n];
  struct shape s = { 2, 3 }, *ps = &s;
  unsigned char small = 5;
  long long big = 6;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      m[i][j] = i * 10 + j;
  long grid[ps->rows][ps->cols + 1];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++)
      grid[i][j] = i + j;
  printf("%d %ld %zu %zu %zu\n", trace(n, m), sum(2, 3, grid), sizeof m, sizeof m[0], sizeof grid);
  int a[10];
  printf("%d %d %d\n", effect(10, a), effects(2, 3, (void *)a, argv[0]), recursive(5));
  char text[small];
  printf("%s %zu\n", fill(text, 4), sizeof text);
  printf("%zu %d\n", types(4), loop(4));
  double cube[THREE][small - 3][width(1)];
  cube[2][1][1] = 1.5;
  double (*plane)[small - 3][2] = cube + 1;
  printf("%zu %zu %g %d\n", sizeof cube, sizeof *plane, plane[1][1][1], calls);
  int k = 2;
  size_t size = sizeof(int[k++ + 1]);
  int (*q)[k] = (int (*)[k])a;
  for (int i = 0; i < 10; i++) a[i] = i;
  q++;
  printf("%zu %d %d %d\n", size, k, (*q)[1], (int)(q - (int (*)[k])a));
  char mixed[big > 5 ? small : -1 & 7][sizeof(int) * 2u / 4];
  printf("%zu %zu\n", sizeof mixed, sizeof mixed[0]);
  const char *names[n - 2];
  names[1] = "name";
  return (int)(strlen(names[1]) + sizeof names / sizeof *names);
}
