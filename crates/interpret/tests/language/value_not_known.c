/* refused: the initial value of `v` */
/* A global whose value is not known matters where it is read. */
#include <stdio.h>
typedef int vector __attribute__((vector_size(16)));
vector v = { 1, 2, 3, 4 };
int main(void) {
  puts("begins");
  int *p = (int *)&v;
  printf("%d\n", p[2]);
  return 0;
}
