// case +++ => 3
// case ++- => 1
// case -- => -2
// case + => 1
// patch: value - 1
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
  value = value - 1 - (value > 9);
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
