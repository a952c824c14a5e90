// case 3 9 4 => 9
// case 5 => 5
// case 7 2 8 1 => 8
// case 2 2 => 2
// schemas: assignment
// lines: 15-15
// patch in: highest
// added:     if (height > most) most = height;
#include <stdio.h>
#include <stdlib.h>

static int highest(char **words) {
  int most = 0, height;
  while (*words) {
    height = atoi(*words++);
  }
  return most;
}

int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? highest(argv + 1) : 0);
  return 0;
}
