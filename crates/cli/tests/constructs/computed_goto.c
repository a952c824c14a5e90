// The view of C does not follow such jumps, so the function is left alone.
// case +++ => 3
// case ++- => 1
// case -- => -2
// case + => 1
// case - => -1
// refused: contains a computed goto
#include <stdio.h>
static int run(const char *code) {
  static void *const table[] = {&&stop, &&plus, &&minus};
  int value = 0;
next:
  goto *table[!*code ? 0 : *code == '+' ? 1 : 2];
plus:
  value = value + 1;
  code++;
  goto next;
minus:
  value = value - 2;
  code++;
  goto next;
stop:
  return value;
}
int main(int argc, char **argv) {
  (void)argc;
  printf("%d\n", run(argv[1]));
  return 0;
}
