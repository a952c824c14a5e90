#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("[%2$s %1$s %2$-4s|%3$05.1f]\n", "a", "b", 2.25);
  printf("%a %a %.2a %a\n", DBL_MIN / 2, 4.9e-324, DBL_MIN * 0.75, DBL_MIN);
  printf("%g %g %g\n", remainder(7, 4), remainder(-5, 2), fdim(5, 3));
  int quotient;
  double rest = remquo(31, 4, &quotient);
  printf("%g %d\n", rest, quotient);
  printf("%g %g %d\n", nextafter(1, 2) - 1, logb(1000), ilogbf(0.125f));
  printf("%ld %ld\n", lrintf(-2.5f), lroundl(2.5L));
  printf("%g %g\n", fmaf(2, 3, 4), ldexpf(0.75f, 4));
  int one = 0, two = 0;
  printf("%d", sscanf("x", "%*c%d", &one));
  printf(" %d", sscanf("12 13", "%*d %d", &two));
  printf(" %d", sscanf("12", "12%d", &one));
  printf(" %d %d\n", sscanf("a", "%d", &one), two);
  char *end;
  const char *text = "nan(12)x";
  printf("%d", strtod(text, &end) == 0);
  printf(" %d\n", (int)(end - text));
  int exponent;
  float whole, fraction = frexpf(12.5f, &exponent);
  printf("%g %d\n", fraction, exponent);
  fraction = modff(-3.25f, &whole);
  printf("%g %g\n", fraction, whole);
  return 0;
}
