// The bug is met before main, in a constructor.
// case 3 => 4 abc
// case => 0 abc
// patch: + 1
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int base;
static int first(int argument) {
  char *room = alloca((size_t)argument + 4);
  strcpy(room, "abc");
  return argument + (int)strlen(room) - 3;
}
__attribute__((constructor)) static void start(void) { base = first(0); }
int main(int argc, char **argv) {
  (void)argc;
  printf("%d abc\n", argc > 1 ? base + atoi(argv[1]) : 0);
  return 0;
}
