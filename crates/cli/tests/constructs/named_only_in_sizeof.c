// A statement that says the size of a variable needs its declaration, though it does not read it.
// case 7 => 7 4
// case 4 => 4 4
// patch in: main
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  if (argc < 2)
    return 2;
  int n = atoi(argv[1]);
  long d = n + 1;
  (void)d;
  printf("%ld ", d);
  printf("%d\n", (int)sizeof(n));
  return 0;
}
