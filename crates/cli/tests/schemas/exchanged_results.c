// The first number is the width, the second one the height.
// schemas: swap
// patch in: main
// added:   int width = next(argv);
// case 3 4 => 3 wide, 4 high, flat
// case 5 5 => 5 wide, 5 high, high
// case 9 2 => 9 wide, 2 high, high
#include <stdio.h>
#include <stdlib.h>

static int at;

static int next(char **words) {
  return atoi(words[++at]);
}

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  int height = next(argv);
  int width = next(argv);
  printf("%d wide, %d high, %s\n", width, height, width < height ? "flat" : "high");
  return 0;
}
