// case 12 => 12
// case 4 => 4
// case 4.5 => 4
// case 31.x => 31
// schemas: exit
// patch in: parse
// added:     if (*c < '0') break;
#include <stdio.h>
static int digits;
static int parse(const char *text) {
  int value = 0;
  for (const char *c = text; *c; c++) {
    digits++;
    value = value * 10 + (*c - '0');
  }
  return value;
}
int main(int argc, char **argv) {
  (void)argc;
  int value = parse(argv[1]);
  if (digits == 0)
    return 1;
  printf("%d\n", value);
  return 0;
}
