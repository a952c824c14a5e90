// A table of which columns are taken for rows.
// schemas: swap
// patch in: sum
// added:     total += table[row][column];
// case 0 => 3
// case 1 => 12
// case 2 => 21
#include <stdio.h>
#include <stdlib.h>

static const int table[3][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};

static int sum(int row) {
  int total = 0;
  for (int column = 0; column < 3; column++)
    total += table[column][row];
  return total;
}

int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? sum(atoi(argv[1])) : 0);
  return 0;
}
