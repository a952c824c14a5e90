// A product that is too large for what the function returns, which is declared in two places.
// schemas: declaration
// patch in: 
// added: static long long product(int n);
// added: static long long product(int n) {
// case 3 => 6
// case 13 => 6227020800
#include <stdio.h>
#include <stdlib.h>

static int product(int n);

int main(int argc, char **argv) {
  long long found = argc > 1 ? product(atoi(argv[1])) : 0;
  printf("%lld\n", found);
  return 0;
}

static int product(int n) {
  long long found = 1;
  for (int i = 2; i <= n; i++)
    found *= i;
  return found;
}
