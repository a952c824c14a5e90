// case ab x aab => 2 0 3 
// case a => 1 
// case xx bb => 0 2 
// schemas: initialization
// patch in: main
// added:     memset(&seen, 0, sizeof seen);
#include <stdio.h>
#include <string.h>
struct seen {
  int a, b;
};
static int count(struct seen *seen, const char *text) {
  for (; *text; text++) {
    seen->a += *text == 'a';
    seen->b += *text == 'b';
  }
  return seen->a + seen->b;
}
int main(int argc, char **argv) {
  struct seen seen = {0, 0};
  for (int i = 1; i < argc; i++) {
    int all = 0;
    all += count(&seen, argv[i]);
    printf("%d ", all);
  }
  puts("");
  return 0;
}
