// case a1_b22 => 6
// case x => 1
// case -?! => 0
// case 77777 => 5
// schemas: function
// patch in: count
// added:     if (isalnum((unsigned char)text[i]) || text[i] == '_')
#include <ctype.h>
#include <stdio.h>

static int count(const char *text) {
  int n = 0;
  for (int i = 0; text[i]; i++)
    if (isalpha((unsigned char)text[i]) || text[i] == '_')
      n++;
  return n;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%d\n", count(argv[i]));
  return 0;
}
