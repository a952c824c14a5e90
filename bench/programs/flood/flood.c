/* Counts the lakes of a map of `~` and `#`, and finds the largest one. */
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

static char map[MOST][MOST + 2];
static int width, height;

static int fill(int x, int y) {
  if (x < 0 || x >= width || y < 0 || y >= height)
    return 0;
  if (map[y][x] != '~')
    return 0;
  map[y][x] = '.';
  return 1 + fill(x + 1, y) + fill(x - 1, y) + fill(x, y + 1) + fill(x, y - 1);
}

static int read_map(void) {
  while (height < MOST && fgets(map[height], sizeof map[height], stdin)) {
    int length = (int)strcspn(map[height], "\n");
    map[height][length] = '\0';
    if (height > 0 && length != width)
      return 0;
    width = length;
    height++;
  }
  return height > 0;
}

int main(void) {
  int lakes = 0, largest = 0, at_x = 0, at_y = 0;
  if (!read_map()) {
    puts("no map");
    return 1;
  }
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      int size = fill(x, y);
      if (size > 0)
        lakes++;
      if (size > largest) {
        at_x = x;
        at_y = y;
      }
    }
  }
  printf("%d lakes, the largest has %d fields at %d,%d\n", lakes, largest, at_x, at_y);
  return 0;
}
