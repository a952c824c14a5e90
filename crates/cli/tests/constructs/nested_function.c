// Clang has no nested functions, so the file cannot be read.
// case 2 => 4
// case 3 => 9
// case 1 => 1
// refused: function definition is not allowed here
#include <stdio.h>
#include <stdlib.h>
static int square(int n) {
  int times(int m) { return n * m; }
  return times(n / 2 * 2 + 1);
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", square(atoi(argv[1])));
  return 0;
}
