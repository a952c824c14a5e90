/* Complex numbers of integers, narrow ones too: conversions cut off, division rounds in each step as gcc does it. */
#include <stdio.h>

static _Complex short product(_Complex signed char a, _Complex short b) { return a * b; }

int main(void) {
  _Complex signed char a = 100 + 3i;
  a += a;
  printf("%d %d\n", __real__ a, __imag__ a);
  _Complex unsigned char u = 250 + 9i;
  u *= 2;
  printf("%d %d\n", __real__ u, __imag__ u);
  _Complex short s = product(a, 300 - 2i);
  printf("%d %d\n", __real__ s, __imag__ s);
  _Complex int q = 5 - 6i;
  q = q / (1 + 2i);
  printf("%d %d\n", __real__ q, __imag__ q);
  _Complex long l = (70 + 31i) / (_Complex long)(9 - 4i);
  printf("%ld %ld\n", __real__ l, __imag__ l);
  _Complex unsigned w = (_Complex unsigned)(40 + 7i) / (3 + 5i);
  printf("%u %u\n", __real__ w, __imag__ w);
  q = 20 / (_Complex int)(3 + 1i);
  printf("%d %d\n", __real__ q, __imag__ q);
  printf("%d %d\n", q == 6, !q);
  return 0;
}
