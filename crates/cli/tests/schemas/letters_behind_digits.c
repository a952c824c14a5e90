// case 10 => 16
// case ff => 255
// case 7 => 7
// case 1C => 28
// schemas: expression
// patch in: nibble
// added:   return (c | 32) - 'a' + 10;
#include <stdio.h>

static int nibble(int c) {
  if (c <= '9')
    return c - '0';
  return (c | 32) - 'a';
}

int main(int argc, char **argv) {
  unsigned value = 0;
  for (const char *at = argc > 1 ? argv[1] : ""; *at; at++)
    value = value * 16 + nibble(*at);
  printf("%u\n", value);
  return 0;
}
