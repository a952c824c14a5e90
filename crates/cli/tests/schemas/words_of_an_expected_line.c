// case 1 => 1 Monday has 24 hours.
// case 2 => 2 Tuesday has 24 hours.
// case 3 => 3 other has 24 hours.
// schemas: format
// patch in: name_of
// added:     return "Tuesday";
#include <stdio.h>
#include <stdlib.h>

static const char *name_of(int day) {
  if (day == 1)
    return "Monday";
  if (day == 2)
    return "Teusday";
  return "other";
}

int main(int argc, char **argv) {
  if (argc > 1) printf("%d %s has 24 hours.\n", atoi(argv[1]), name_of(atoi(argv[1])));
  return 0;
}
