// case 3 -1 4 => 7
// case 5 => 5
// case 2 2 => 4
// case -3 8 -1 1 => 9
// patch in: sum
// added:       continue;
#include <stdio.h>
#include <stdlib.h>

static long sum(int count, char **words) {
  long total = 0;
  for (int i = 0; i < count; i++) {
    long word = atol(words[i]);
    if (word < 0)
      break;
    total += word;
  }
  return total;
}

int main(int argc, char **argv) {
  printf("%ld\n", sum(argc - 1, argv + 1));
  return 0;
}
