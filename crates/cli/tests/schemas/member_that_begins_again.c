// case 9 1 2 => 9 1|2 2
// case 7 3 1 => 7 1|3 2
// case 3 1 4 => 3 1|4 2
// case 8 => 8 1
// schemas: initialization
// patch in: begin
// added:   run->most = 0;
#include <stdio.h>
#include <stdlib.h>

struct run { int most, count; };

static void begin(struct run *run) {
  run->count = 0;
}

static void add(struct run *run, int value) {
  if (value > run->most) run->most = value;
  run->count++;
}

int main(int argc, char **argv) {
  struct run run = {0, 0};
  for (int i = 1; i < argc; i++) {
    add(&run, atoi(argv[i]));
    if (i % 2 == 1 || i + 1 == argc) {
      printf(i == 1 ? "%d %d" : "|%d %d", run.most, run.count);
      begin(&run);
    }
  }
  printf("\n");
  return 0;
}
