// case 3 => 6
// case 100000 => 5000050000
// case 70000 => 2450035000
// schemas: format
// patch in: main
// added:   printf("%lld\n", sum);
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  long long sum = 0;
  int n = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 1; i <= n; i++)
    sum += i;
  printf("%d\n", sum);
  return 0;
}
