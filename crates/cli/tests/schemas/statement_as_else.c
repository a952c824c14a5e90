// What is left out is not the last one.
// schemas: guard
// patch in: main
// added:     else
// added:       last = n;
// case 5 3 9 5 => 1 9
// case 5 5 9 3 => 1 3
// case 5 7 5 5 => 2 7
// case 5 1 2 3 => 0 3
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int skipped = 0, last = 0, skip = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; i++) {
    int n = atoi(argv[i]);
    if (n == skip)
      skipped++;
    last = n;
  }
  printf("%d %d\n", skipped, last);
  return 0;
}
