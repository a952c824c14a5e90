// What is lost is counted where nothing is.
// schemas: move
// patch in: main
// added:       lost += -change;
// case 5 => 5 0
// case 5 -2 => 3 0
// case 5 -7 => 0 2
// case -1 4 -9 2 => 2 6
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int level = 0, lost = 0;
  for (int i = 1; i < argc; i++) {
    int change = atoi(argv[i]) + level;
    if (change < 0) {
      level = 0;
    } else {
      level = change;
      lost += -change;
    }
  }
  printf("%d %d\n", level, lost);
  return 0;
}
