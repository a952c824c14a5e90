// case 3 => 1,2,3
// case 1 => 1
// case 4 => 1,2,3,4
// schemas: expression,format
// patch in: main
// added:       printf(",");
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 1; i <= n; i++) {
    if (i > 1)
      printf(";");
    printf("%d", i);
  }
  printf("\n");
  return 0;
}
