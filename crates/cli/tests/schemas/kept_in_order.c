// case 3 9 4 => 9
// case 5 => 5
// case 7 2 8 1 => 8
// case 2 2 => 2
// schemas: assignment
// patch in: main
// added:     if (height > peak) peak = height;
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int peak = 0, count = 0;
  for (int i = 1; i < argc; i++) {
    int height = atoi(argv[i]);
    count += height > 0;
  }
  printf("%d\n", count > 0 ? peak : -1);
  return 0;
}
