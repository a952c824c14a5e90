// There is no loader in the program that could load anything.
// flags: -static
// case 3 => 1
// case 0 => 1
// case -1 => 0
// patch in: natural
#include <stdio.h>
#include <stdlib.h>
static int natural(int n) {
  return n > 0;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", natural(atoi(argv[1])));
  return 0;
}
