// case a => a
// case abcde => abcde
// case abcdefgh => abcdefgh
// patch in: copy
#include <stdio.h>
#include <string.h>
static void copy(char *to, const char *from, int count) {
  int rounds = (count + 2) / 4;
  switch (count % 4) {
  case 0: do { *to++ = *from++;
  case 3:      *to++ = *from++;
  case 2:      *to++ = *from++;
  case 1:      *to++ = *from++;
          } while (--rounds > 0);
  }
}
int main(int argc, char **argv) {
  char text[64] = {0};
  (void)argc;
  copy(text, argv[1], (int)strlen(argv[1]));
  puts(text);
  return 0;
}
