// A maximum that is not set back for the next row.
// schemas: assignment
// patch in: main
// added:   most = 0;
// case 5 3 9 1 => 5 9
// case 9 1 3 2 => 9 3
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int most = 0;
  for (int i = 1; i <= 2 && i < argc; i++)
    if (atoi(argv[i]) > most)
      most = atoi(argv[i]);
  printf("%d ", most);
  for (int i = 3; i < argc; i++)
    if (atoi(argv[i]) > most)
      most = atoi(argv[i]);
  printf("%d\n", most);
  return 0;
}
