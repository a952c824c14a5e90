// case 2 3 + => 5
// case 2 3 x => 6
// case 4 5 x => 20
// case 4 5 - => -1
// case 4 5 ? => 0
// schemas: guard,expression
// patch in: calculate
// added:   case 'x': return a * b;
#include <stdio.h>
#include <stdlib.h>

static int calculate(int a, int b, char sign) {
  switch (sign) {
  case '+': return a + b;
  case '-': return a - b;
  case 'X': return a * b;
  default: break;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 3) printf("%d\n", calculate(atoi(argv[1]), atoi(argv[2]), argv[3][0]));
  return 0;
}
