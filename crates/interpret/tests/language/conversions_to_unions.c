#include <stdio.h>

union number {
  int whole;
  double real;
  struct {
    short low, high;
  } halves;
};

static double doubled(union number n) { return 2 * n.real; }

int main(void) {
  union number n = (union number)5;
  printf("%d %d\n", n.whole, ((union number)7).whole);
  printf("%g\n", doubled((union number)2.5));
  return n.halves.low;
}
