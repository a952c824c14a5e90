// A table is written once and expanded as an enumeration, as names and as cases.
// case 0 => red
// case 1 => green
// case 2 => blue
// case 3 => none
// patch in: name
#include <stdio.h>
#include <stdlib.h>
#define COLOURS(X) X(red) X(green) X(blue)
#define AS_ENUM(c) c,
#define AS_CASE(c) case c: return #c;
enum colour { COLOURS(AS_ENUM) COUNT };
static const char *name(unsigned c) {
  if (c > COUNT)
    return "none";
  switch (c) {
    COLOURS(AS_CASE)
  }
  return "beyond";
}
int main(int argc, char **argv) {
  (void)argc;
  puts(name((unsigned)atoi(argv[1])));
  return 0;
}
