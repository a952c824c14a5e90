// case x.. .x. => 1
// case xxx => 3
// case .x. .xx => 3
// case .xx xx. => 4
// case ..x xxx => 4
// schemas: move
// patch in: area
// added:   return 1 + area(y - 1, x) + area(y + 1, x) + area(y, x + 1) + area(y, x - 1);
#include <stdio.h>
#include <string.h>

static char map[10][10];

static int area(int y, int x) {
  if (map[y][x] != 'x')
    return 0;
  map[y][x] = '.';
  return 1 + area(y - 1, x) + area(y + 1, x) + area(y, x + 1);
}

int main(int argc, char **argv) {
  for (int y = 1; y < argc; y++)
    strcpy(&map[y][1], argv[y]);
  char *first = strchr(&map[1][1], 'x');
  printf("%d\n", first ? area(1, (int)(first - map[1])) : 0);
  return 0;
}
