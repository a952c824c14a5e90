// case 3 => 3
// case 1 => 1
// case 0 => 0
// patch in: count
#include <stdio.h>
#include <stdlib.h>
static volatile int counter;
static int count(int n) {
  volatile int i;
  for (i = 0; i < n - 1; i++)
    counter = counter + 1;
  return counter;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", count(atoi(argv[1])));
  return 0;
}
