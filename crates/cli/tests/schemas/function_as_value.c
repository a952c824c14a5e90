// case 3 1 2 => 123
// case 9 8 7 => 789
// case 5 => 5
// patch in: main
// added:   qsort(all, n, sizeof *all, rising);
#include <stdio.h>
#include <stdlib.h>

static int rising(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int falling(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

int main(int argc, char **argv) {
  int all[16], n = 0;
  for (int i = 1; i < argc; i++) all[n++] = atoi(argv[i]);
  qsort(all, n, sizeof *all, falling);
  for (int i = 0; i < n; i++) printf("%d", all[i]);
  printf("\n");
  (void)rising;
  return 0;
}
