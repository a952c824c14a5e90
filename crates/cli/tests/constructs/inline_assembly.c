// The function with the bug has assembler in it, which cannot stand in the file twice.
// case 3 3 => 6
// case 0 0 => 0
// refused: contains inline assembly
#include <stdio.h>
#include <stdlib.h>
static int add(int a, int b) {
  int sum = a / 2 * 2;
  __asm__("addl %1, %0" : "+r"(sum) : "r"(b));
  return sum;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", add(atoi(argv[1]), atoi(argv[2])));
  return 0;
}
