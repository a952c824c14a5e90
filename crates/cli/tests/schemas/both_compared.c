// case Ab aB => same
// case x x => same
// case x y => different
// case abc ABc => same
// case abc abd => different
// case a ab => different
// schemas: function
// patch in: same
// added:     if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
#include <ctype.h>
#include <stdio.h>

static int same(const char *a, const char *b) {
  while (*a && *b) {
    if (*a != *b)
      return 0;
    a++;
    b++;
  }
  return *a == *b;
}

int main(int argc, char **argv) {
  if (argc > 2 && isprint((unsigned char)argv[1][0]))
    puts(same(argv[1], argv[2]) ? "same" : "different");
  return 0;
}
