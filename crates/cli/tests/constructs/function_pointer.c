// case 3 4 => 7
// case 5 2 => 7
// case 2 2 => 4
// patch in: multiply
#include <stdio.h>
#include <stdlib.h>
static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }
typedef int (*operation)(int, int);
static operation operations[] = {add, multiply};
int main(int argc, char **argv) {
  int which = argc > 2;
  printf("%d\n", operations[which](atoi(argv[1]), atoi(argv[2])));
  return 0;
}
