// case two+words => 2
// case one => 1
// case a+bb+c => 3
// case  => 0
// patch in: words
// added:     } else {
// added:       inside = 0;
#include <stdio.h>

static int words(const char *text) {
  int count = 0, inside = 0;
  for (; *text; text++) {
    if (*text != '+') {
      if (!inside) {
        count++;
        inside = 1;
      }
    }
  }
  return count;
}

int main(int argc, char **argv) {
  printf("%d\n", words(argc > 1 ? argv[1] : ""));
  return 0;
}
