// Who is no member pays, whatever it costs.
// schemas: guard
// patch in: main
// added:   } else {
// case 1 5 => 0 0
// case 1 50 => 1 0
// case 0 5 => 0 1
// case 0 50 => 0 1
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 3) return 1;
  int member = atoi(argv[1]), price = atoi(argv[2]);
  int noted = 0, paid = 0;
  if (member) {
    if (price > 10) {
      noted++;
    } else {
      paid++;
    }
  }
  printf("%d %d\n", noted, paid);
  return 0;
}
