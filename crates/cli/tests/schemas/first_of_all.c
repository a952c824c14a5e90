// case 3 9 4 => 3..9
// case 5 => 5..5
// case -7 -2 => -7..-2
// case -1 4 => -1..4
// schemas: assignment
// lines: 16-16
// patch in: range
// added:     if (i == 0) low = high = value;
#include <stdio.h>
#include <stdlib.h>

static void range(char **words) {
  int low = 0, high = 0;
  for (int i = 0; words[i]; i++) {
    int value = atoi(words[i]);
    if (value < low)
      low = value;
    else if (value > high)
      high = value;
  }
  printf("%d..%d\n", low, high);
}

int main(int argc, char **argv) {
  range(argv + 1);
  return argc < 2;
}
