// A macro holds the head of a loop, another one its end.
// case 3 => 6
// case 0 => 0
// lines: 13
// patch in: sum
#include <stdio.h>
#include <stdlib.h>
#define EACH(i) for (i = 1;
#define UNTIL(c) c; i++) {
#define END }
static int sum(int n) {
  int i, total = 0;
  EACH(i) UNTIL(i < n)
    total += i;
  END
  return total;
}
int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? sum(atoi(argv[1])) : -1);
  return 0;
}
