// case 1 => on
// case 0 => off
// case 2 => off
// case 3 => on
// case 5 => on
// case 4 => off
// case 6 => off
// patch in: state
#include <stdio.h>
#include <stdlib.h>
struct flags {
  unsigned on : 1;
  unsigned level : 3;
};
static const char *state(int n) {
  struct flags flags = {0, 0};
  flags.on = (unsigned)n & 1;
  flags.level = (unsigned)n & 7;
  if (flags.on > flags.level || flags.level > 1)
    return "on";
  return "off";
}
int main(int argc, char **argv) {
  (void)argc;
  puts(state(atoi(argv[1])));
  return 0;
}
