// case 1 2 3 4 => 3 7 
// case 5 5 => 10 
// case 1 1 1 1 1 1 => 2 2 2 
// schemas: initialization
// patch in: main
// added:     pair = 0;
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int pair = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    for (int k = 0; k < 2; k++)
      pair += atoi(argv[i + k]);
    printf("%d ", pair);
  }
  printf("\n");
  return 0;
}
