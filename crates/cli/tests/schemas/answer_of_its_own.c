// case 4 6 => mean 5
// case 1 2 9 => mean 4
// case - => nothing to divide
// patch in: main
// added:   if (!count) { printf("nothing to divide\n"); return 0; }
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int sum = 0, count = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') continue;
    sum += atoi(argv[i]);
    count++;
  }
  printf("mean %d\n", sum / count);
  return 0;
}
