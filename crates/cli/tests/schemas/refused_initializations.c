// case 3 => 3
// case 2 => 1
// schemas: initialization,exit
// patch in: sum
// left alone: INITIALIZATION of memory from realloc, whose old size is not known
// left alone: INITIALIZATION of an array of variable length
// left alone: INITIALIZATION of a union
// left alone: INITIALIZATION of a constant variable
// left alone: INITIALIZATION of a variable that its own declaration reads
// left alone: INITIALIZATION of a variable whose declaration is not plain text
#include <stdio.h>
#include <stdlib.h>
static int sum(int n) {
  union { int i; float f; } both;
  const int fixed[2];
  int room[n];
  int first, second = sizeof(room) + (first = 0);
  int noted __attribute__((unused));
  int *grown = realloc(NULL, (size_t)n * sizeof *grown);
  both.i = (int)sizeof fixed;
  second = 0;
  for (int i = 0; i < n; i++) {
    room[i] = grown[i] = i;
    second += room[i];
  }
  free(grown);
  return second + first * both.i + (n == 2);
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", sum(atoi(argv[1])));
  return 0;
}
