// case be => closed
// case bbee => closed
// case b => open
// case bbe => open
// case beb => open
// case eb => open
// schemas: expression
// patch in: look
// added:   printf("%s\n", ok > depth ? "closed" : "open");
#include <stdio.h>

static void look(const char *text) {
  int depth = 0, ok = 1;
  for (; *text; text++) {
    if (*text == 'b')
      depth++;
    else if (depth > 0)
      depth--;
    else
      ok = 0;
  }
  printf("%s\n", ok ? "closed" : "open");
}

int main(int argc, char **argv) {
  if (argc > 1)
    look(argv[1]);
  return 0;
}
