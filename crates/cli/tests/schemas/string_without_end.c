// case 4 => ----
// case 6 3 => ------ ---
// case 3 5 => --- -----
// case 2 1 2 => -- - --
// patch in: line
// added:   dashes[length] = 0;
#include <stdio.h>
#include <stdlib.h>

static char dashes[64];

static void line(int length) {
  for (int i = 0; i < length && i < 63; i++)
    dashes[i] = '-';
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    line(atoi(argv[i]));
    printf(i > 1 ? " %s" : "%s", dashes);
  }
  puts("");
  return 0;
}
