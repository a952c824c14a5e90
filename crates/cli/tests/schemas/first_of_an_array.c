// case 3 9 4 => 3..9
// case 5 => 5..5
// case -7 -2 => -7..-2
// case -1 4 => -1..4
// case 0 => 0..0
// schemas: assignment
// lines: 14-14
// patch in: range
// added:   *low = *high = values[0];
#include <stdio.h>
#include <stdlib.h>

static void range(const int *values, int count, int *low, int *high) {
  for (int i = 0; i < count; i++) {
    if (values[i] < *low)
      *low = values[i];
    if (values[i] > *high)
      *high = values[i];
  }
}

int main(int argc, char **argv) {
  int values[20], low = 0, high = 0;
  for (int i = 1; i < argc; i++)
    values[i - 1] = atoi(argv[i]);
  range(values, argc - 1, &low, &high);
  printf("%d..%d\n", low, high);
  return 0;
}
