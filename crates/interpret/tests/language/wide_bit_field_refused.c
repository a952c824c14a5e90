/* refused: a wide bit-field and a signed value */
#include <stdio.h>
struct b { unsigned long u33 : 33; };
int main(int argc, char **argv) {
  struct b x = { 1 };
  long l = -2;
  printf("%d\n", x.u33 < l);
  return 0;
}
