// Two variables of one expression that stand in each other's place.
// schemas: expression
// patch in: letter
// added:   return letters[row * width + column];
// case 0 0 3 => a
// case 1 2 3 => f
// case 0 2 3 => c
// case 1 0 3 => d
// case 2 1 2 => f
// case 0 1 5 => b
// case 1 1 4 => f
#include <stdio.h>
#include <stdlib.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

static char letter(int row, int column, int width) {
  return letters[column * width + row];
}

int main(int argc, char **argv) {
  if (argc < 4) { puts("usage"); return 0; }
  int row = atoi(argv[1]), column = atoi(argv[2]), width = atoi(argv[3]);
  printf("%c\n", letter(row, column, width));
  return 0;
}
