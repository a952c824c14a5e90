// case 3 => 9
// case 1 => 1
// case 7 => 49
// case 4 => 16
// schemas: expression,declaration
// patch in: 
// added: #define SQUARE(x) ((x) * (x))
#include <stdio.h>
#include <stdlib.h>

#define SQUARE(x) x * x

static int area(int side) { return SQUARE(side - 1 + 1); }

int main(int argc, char **argv) {
  if (argc > 1) printf("%d\n", area(atoi(argv[1])));
  return 0;
}
