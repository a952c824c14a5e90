// case 2 3 => 8
// case 3 3 => 27
// case 5 1 => 5
// case 10 3 => 1000
// schemas: swap
// patch in: main
// added:   printf("%d\n", power(base, exponent));
#include <stdio.h>
#include <stdlib.h>

static int power(int base, int exponent) {
  int result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

int main(int argc, char **argv) {
  if (argc < 3) { puts("usage"); return 0; }
  int base = atoi(argv[1]), exponent = atoi(argv[2]);
  printf("%d\n", power(exponent, base));
  return 0;
}
