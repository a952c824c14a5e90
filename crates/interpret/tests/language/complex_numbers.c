#include <complex.h>
#include <math.h>
#include <stdio.h>

static void show(const char *name, double complex z) {
  printf("%s %g %g\n", name, creal(z), cimag(z));
}

static double complex square_and_one(double complex z) { return z * z + 1; }

struct pair {
  float complex first;
  int complex second;
};

static double complex table[3] = {1, 2.5 * I, -(3 + 4 * I)};
static float complex narrow = 1.5f + 0.5f * I;

int main(void) {
  double complex a = 3 + 4 * I, b = 1 - 2i, c;
  show("sum", a + b);
  show("difference", 2 - b);
  show("product", a * b);
  show("scaled", a * 0.5);
  show("quotient", a / b);
  show("inverse", 1 / a);
  show("by a number", a / 4);
  show("function", square_and_one(b));
  show("conjugate", ~a);
  show("the same", conj(a));
  show("negative", -a);
  c = a;
  c += 1;
  c *= b;
  c -= 2i;
  c /= 2;
  show("compound", c);
  __real__ c = 9;
  __imag__ c += 1;
  show("parts", c);
  printf("%g %g\n", __real__ c++, __imag__ c);
  show("stepped", --c);
  printf("%g %g\n", cabs(a), carg(1 + 1 * I));
  printf("%d %d %d %d\n", a == b, a != b, a == 3 + 4i, 3.0 == a - 4i);
  if (a && !(a - a))
    puts("truth");
  printf("%d %d\n", c ? 1 : 0, (_Bool)(0 * a));
  printf("%g %d\n", (double)a, (int)b);
  float complex f = a;
  f = f * f / (1 - 1.0if);
  printf("%g %g %zu %zu\n", crealf(f), cimagf(f), sizeof f, sizeof a);
  int complex i = 3 + 2i, j = i * i;
  i /= 1 + 1i;
  printf("%d %d %d %d\n", __real__ i, __imag__ i, __real__ j, __imag__ j);
  struct pair p = {1 + 2i, 5}, q = p;
  q.first *= 2;
  printf("%g %d\n", cimagf(q.first), __real__ q.second);
  for (int n = 0; n < 3; n++)
    show("table", table[n]);
  printf("%g %g %g\n", crealf(narrow), cimagf(narrow), __imag__ 5.0);
  double complex huge = 1e300 + 1e300 * I;
  show("robust", huge / (2e300 + 1e300 * I));
  show("infinite", (INFINITY + 0 * I) * (1 + 1i));
  double complex *at = &table[1];
  *at = at[1] * a;
  show("through a pointer", *at);
  show("chosen", (c = b, a == b) ? a : c);
  return 0;
}
