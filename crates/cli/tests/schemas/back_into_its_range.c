// case 9 2 => 11
// case 23 3 => 2
// case 12 12 => 0
// case 20 9 => 5
// case 25 0 => -1
// schemas: assignment
// patch in: later
// added:   if (hour >= 24) hour -= 24;
#include <stdio.h>
#include <stdlib.h>

static int later(int hour, int wait) {
  if (hour > 24 || wait > 24)
    return -1;
  hour += wait;
  return hour;
}

int main(int argc, char **argv) {
  printf("%d\n", argc > 2 ? later(atoi(argv[1]), atoi(argv[2])) : -2);
  return 0;
}
