/* refused: the initial value of `v` */
/* A global whose value is not known matters where it is read. */
#include <stdio.h>
double _Complex v = (1 + 1i) * (2 + 1i);
int main(void) {
  puts("begins");
  double *p = (double *)&v;
  printf("%g\n", p[1]);
  return 0;
}
