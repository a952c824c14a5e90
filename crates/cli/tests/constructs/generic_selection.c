// case 3 => int 3
// case -4 => int 4
// case 0 => int 0
// patch in: absolute
#include <stdio.h>
#include <stdlib.h>
#define KIND(x) _Generic((x), int: "int", double: "double", default: "other")
static int absolute(int x) { return x > 0 ? -x : x; }
int main(int argc, char **argv) {
  int x = atoi(argv[1]);
  (void)argc;
  printf("%s %d\n", KIND(x), _Generic((x), int: absolute, default: 0)(x));
  return 0;
}
