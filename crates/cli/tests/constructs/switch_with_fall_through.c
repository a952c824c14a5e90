// case 0 => 7
// case 1 => 6
// case 2 => 4
// case 3 => 0
// patch in: weight
#include <stdio.h>
#include <stdlib.h>
static int weight(int n) {
  int bits = 0;
  switch (n) {
  case 0:
    bits += 1;
    /* fall through */
  case 1:
    bits += 3;
    /* fall through */
  case 2:
    bits += 4;
    break;
  default:
    break;
  }
  return bits;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", weight(atoi(argv[1])));
  return 0;
}
