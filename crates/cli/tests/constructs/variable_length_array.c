// case 4 => 6
// case 1 => 0
// patch in: sum
#include <stdio.h>
#include <stdlib.h>
static int sum(int n) {
  int cells[n], total = 0;
  for (int i = 0; i < n; i++)
    cells[i] = i;
  for (int i = 0; i < n - 1; i++)
    total += cells[i];
  return total + (int)(sizeof cells / sizeof *cells) - n;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", sum(atoi(argv[1])));
  return 0;
}
