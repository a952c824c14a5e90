// `==` between strings.
// schemas: function
// patch in: find
// added:     if (strcmp(names[i], name) == 0)
// case one => 0
// case two => 1
// case six => -1
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"one", "two"};

static int find(const char *name) {
  for (int i = 0; i < 2; i++)
    if (names[i] == name)
      return i;
  return -1;
}

int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? find(argv[1]) : -1);
  return 0;
}
