// case hello l => 2
// case abc z => 0
// case abba b => 2
// schemas: initialization
// patch in: histogram
// added:   int counts[26] = {0};
#include <stdio.h>
#include <stdlib.h>
static void leave_something_on_the_stack(int n) {
  volatile int room[256];
  for (int i = 0; i < 256; i++)
    room[i] = n + i;
}
static int histogram(const char *text, char wanted) {
  int counts[26];
  int best;
  for (const char *c = text; *c; c++)
    if (*c >= 'a' && *c <= 'z')
      counts[*c - 'a']++;
  best = counts[wanted - 'a'];
  return best;
}
int main(int argc, char **argv) {
  (void)argc;
  leave_something_on_the_stack(1000);
  printf("%d\n", histogram(argv[1], argv[2][0]));
  return 0;
}
