// case ab => 2
// case a-b => 1
// case - => 0
// case +b => 2
// schemas: refinement
// lines: 21-21
// patch in: main
// added:   while (((c = next(argv[1])) != END) && c != '-') {
#include <stdio.h>
#define END 0
static const char *at;
static int next(const char *text) {
  if (!at)
    at = text;
  /* Like getchar, it says so for ever once it is at the end. */
  return *at ? *at++ : END;
}
int main(int argc, char **argv) {
  int c, n = 0;
  (void)argc;
  while ((c = next(argv[1])) != END) {
    n++;
  }
  printf("%d\n", n);
  if (n < 0)
    putchar('-');
  return 0;
}
