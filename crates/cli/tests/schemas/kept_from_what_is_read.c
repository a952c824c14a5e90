// case 5 9 3 => 4
// case 5 2 7 => 5
// case 4 1 2 0 3 => 3
// case 2 8 1 4 => 6
// case 5 9 6 10 => 5
// schemas: assignment
// lines: 16-16
// patch in: climb
// added:     if (height < lowest) lowest = height;
#include <stdio.h>

static int climb(char **words) {
  int lowest, height, most = 0;
  sscanf(*words++, "%d", &lowest);
  while (*words) {
    sscanf(*words++, "%d", &height);
    if (height - lowest > most)
      most = height - lowest;
  }
  return most;
}

int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? climb(argv + 1) : 0);
  return 0;
}
