// case 1 => 31
// case 2 => 28
// case 4 => 30
// case 6 => 30
// case 7 => 31
// schemas: guard,declaration
// patch in: days
// added:   static const int table[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
#include <stdio.h>
#include <stdlib.h>

static int days(int month) {
  static const int table[] = {31, 28, 31, 31, 31, 30, 31, 31, 30, 31, 30, 31};
  int known = month >= 1 && month <= 12;
  if (!known) return 0;
  return table[month - 1];
}

int main(int argc, char **argv) {
  if (argc > 1) printf("%d\n", days(atoi(argv[1])));
  return 0;
}
