// Times are ordered by hours and seconds alone.
// schemas: move
// patch in: later
// added:   if (a->minute != b->minute) return a->minute > b->minute;
// case 1 2 3 1 2 4 => 0
// case 2 2 3 1 9 4 => 1
// case 1 5 3 1 2 4 => 1
// case 1 1 9 1 2 4 => 0
// case 1 4 4 1 4 3 => 1
#include <stdio.h>
#include <stdlib.h>

struct time {
  int hour, minute, second;
};

static int later(const struct time *a, const struct time *b) {
  if (a->hour != b->hour) return a->hour > b->hour;
  return a->second > b->second;
}

int main(int argc, char **argv) {
  if (argc < 7) return 1;
  struct time a = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3])};
  struct time b = {atoi(argv[4]), atoi(argv[5]), atoi(argv[6])};
  printf("%d\n", later(&a, &b));
  return 0;
}
