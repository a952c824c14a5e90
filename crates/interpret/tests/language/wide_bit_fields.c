/* Bit-fields wider than int have a type of their width in gcc. */
#include <stdio.h>
struct b { unsigned long u33 : 33, u40 : 40; long s40 : 40, s35 : 35; unsigned long long u64 : 64; unsigned long u20 : 20; };
int main(void) {
  struct b x = { 0x1ffffffffUL, 0xffffffffffUL, -5, 3, -1, 7 };
  printf("%d %d %d\n", x.u33 + 1 == 0, (x.u33 << 1) == 0x1fffffffeUL, x.u40 + 1 == 0);
  printf("%d %d %d\n", x.u33 == -1, x.u33 > -2, -1 < x.u40);
  printf("%lu %lu %lu\n", (unsigned long)(x.u33 * 2), (unsigned long)~x.u33, (unsigned long)-x.u40);
  printf("%d %ld %d\n", x.s40 < 0, (long)(x.s40 - 1), x.s40 * x.s35 < 0);
  printf("%d %d %lu\n", x.u64 + 1 == 0, x.u20 - 8 < 0, (unsigned long)(x.u33 + 1UL));
  printf("%lu %lu\n", (unsigned long)(x.u33 + x.u40), (unsigned long)(x.u33 ^ -1));
  x.u33 += 3; x.u40 <<= 4; x.s40 /= 2; x.u40 >>= 1;
  printf("%lu %lu %ld %d\n", (unsigned long)x.u33, (unsigned long)x.u40, (long)x.s40, (x.u33++ - 3 < 0) + (x.u33 - 4 > 0));
  return (int)(x.u33 & 7);
}
