// case 0 => 1
// case 1 => 4
// case 2 => 12
// case 3 => 32
// case 5 => 192
// patch in: main
// added:   printf("%d\n", next() << last);
#include <stdio.h>
#include <stdlib.h>

static int number;

static int next(void) { return number++; }

int main(int argc, char **argv) {
  number = argc > 1 ? atoi(argv[1]) : 0;
  int last = next();
  printf("%d\n", last << next());
  return 0;
}
