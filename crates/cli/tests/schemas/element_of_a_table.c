// A step of a knight leads to another place.
// schemas: initialization
// patch in: 
// added: static const int steps[][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}};
// case 4 4 => 56 65 63 52
// case 1 1 => 23 32 30 2-1
// case 5 0 => 62 71 7-1 6-2
#include <stdio.h>
#include <stdlib.h>

static const int steps[][2] = {{1, 2}, {2, 1}, {2, 1}, {1, -2}};

int main(int argc, char **argv) {
  int x = argc > 2 ? atoi(argv[1]) : 0, y = argc > 2 ? atoi(argv[2]) : 0;
  for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
    printf("%d%d%s", x + steps[i][0], y + steps[i][1], i == 3 ? "\n" : " ");
  return 0;
}
