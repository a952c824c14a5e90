// case 2 3 => 3
// case 3 2 => 3
// case 4 4 => 4
// patch in: greater
#include <stdio.h>
#include <stdlib.h>
#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
static int greater(int x, int y) {
  int most = ({ __typeof__(x) t = x; if (t > y) t = y; t; });
  return MAX(most, most);
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", greater(atoi(argv[1]), atoi(argv[2])));
  return 0;
}
