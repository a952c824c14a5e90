// case 5 => 15
// case 0 => 0
// case 1 => 1
// lines: 16
// patch in: sum
#include <stdio.h>
#include <stdlib.h>
static int sum(int n) {
  int total = 0;
  goto test;
  {
  add:
    total += n;
    n--;
  test:
    if (n > 1)
      goto add;
  }
  goto out;
out:
  return total;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", sum(atoi(argv[1])));
  return 0;
}
