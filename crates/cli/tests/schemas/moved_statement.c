// case 2 3 => 2 1 5
// case 0 => 0 0
// case 5 1 1 => 5 -4 0 7
// schemas: move
// patch in: difference
// added:   before = last;
#include <stdio.h>
#include <stdlib.h>

static int total, last;

static void record(int value) {
  last = value;
  total += value;
}

static int difference(int value) {
  int before;
  record(value);
  before = last;
  return value - before;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%d ", difference(atoi(argv[i])));
  printf("%d\n", total);
  return 0;
}
