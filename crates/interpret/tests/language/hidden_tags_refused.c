/* refused: a size or an offset that is not known */
/* A definition within sizeof hides an outer one, and the compiler's dump does not have it. */
#include <stdio.h>
struct s { char c; };
int main(void) {
  unsigned long size = sizeof(struct s { int v[4]; });
  struct s x;
  printf("%lu %lu\n", size, sizeof x);
  return 0;
}
