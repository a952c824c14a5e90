// flags: -std=gnu89
// case 2 3 => 3
// case 3 2 => 3
// case 4 4 => 4
// patch in: greater
#include <stdio.h>
#include <stdlib.h>
static int greater(a, b)
  int a;
  int b;
{
  if (a > b)
    return b;
  return a;
}
int main(argc, argv)
  int argc;
  char **argv;
{
  (void)argc;
  printf("%d\n", greater(atoi(argv[1]), atoi(argv[2])));
  return 0;
}
