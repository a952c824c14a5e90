/* A global whose value is not known, and that nothing reads. */
#include <stdio.h>
typedef int vector __attribute__((vector_size(16)));
vector v = { 1, 2, 3, 4 };
static _Complex double c[2] = { 1, 2 };
int main(void) {
  puts("begins");
  printf("%d\n", &v != (void *)c);
  return 0;
}
