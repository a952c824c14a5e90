// case 1 5 => 5
// case 2 1 2 3 4 => 10
// case 3 1 0 2 0 3 0 4 0 5 => 15
// case 3 1 7 1 7 0 7 1 7 1 => 4
// schemas: guard
// patch in: both
// added:     if (i != size - 1 - i)
#include <stdio.h>
#include <stdlib.h>

static int grid[5][5];

static int both(int size) {
  int sum = 0;
  for (int i = 0; i < size; i++) {
    sum += grid[i][i];
    sum += grid[i][size - 1 - i];
  }
  return sum;
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; i++)
    grid[(i - 2) / size][(i - 2) % size] = atoi(argv[i]);
  printf("%d\n", both(size));
  return 0;
}
