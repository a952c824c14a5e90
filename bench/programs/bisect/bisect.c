/* Finds a zero of a polynomial between two numbers by bisection: degree, coefficients, ends. */
#include <math.h>
#include <stdio.h>

enum { MOST = 8 };

static double coefficients[MOST + 1];
static int degree;

static double value_at(double x) {
  double value = 0.0;
  for (int i = degree; i >= 0; i--)
    value = value * x + coefficients[i];
  return value;
}

static int zero_between(double low, double high, double *zero) {
  double at_low = value_at(low);
  double at_high = value_at(high);
  int steps = 0;
  if (at_low * at_high > 0)
    return -1;
  while (high - low > 1e-6 && steps < 60) {
    double middle = (low + high) / 2;
    double at_middle = value_at(middle);
    if (at_low * at_high <= 0) {
      high = middle;
    } else {
      low = middle;
      at_low = at_middle;
    }
    steps++;
  }
  *zero = (low + high) / 2;
  return steps;
}

int main(void) {
  double low, high, zero = 0.0;
  if (scanf("%d", &degree) != 1 || degree < 1 || degree > MOST)
    return 2;
  for (int i = 0; i <= degree; i++)
    if (scanf("%lf", &coefficients[i]) != 1)
      return 2;
  while (scanf("%lf %lf", &low, &high) == 2) {
    int steps = zero_between(low, high, &zero);
    if (steps < 0)
      puts("no change of sign");
    else
      printf("%.4f\n", fabs(zero) < 0.00005 ? 0.0 : zero);
  }
  return 0;
}
