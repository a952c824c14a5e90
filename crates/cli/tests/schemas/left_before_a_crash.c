// case a=1 b=22 => a: 1 | b: 22
// case x => x?
// case a=1 x b=2 => a: 1 | x? | b: 2
// case y q=7 => y? | q: 7
// patch in: show
// added:   if (!equals) return -1;
#include <stdio.h>
#include <string.h>

static int show(char *text) {
  char *equals = strchr(text, '=');
  *equals = 0;
  printf("%s: %s", text, equals + 1);
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (show(argv[i]) < 0) printf("%s?", argv[i]);
    printf(i + 1 < argc ? " | " : "\n");
  }
  return 0;
}
