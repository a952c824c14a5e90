/* Mean, standard deviation and outliers of the numbers on standard input. */
#include <math.h>
#include <stdio.h>

enum { MOST = 64 };

static double mean(const double *values, int count) {
  double sum = 0.0;
  for (int i = 0; i < count; i++)
    sum += values[i];
  return sum / count;
}

/* Of a sample: one degree of freedom went into the mean. */
static double deviation(const double *values, int count, double middle) {
  double squares = 0.0;
  if (count < 2)
    return 0.0;
  for (int i = 0; i < count; i++) {
    double distance = values[i] - middle;
    squares += distance * distance;
  }
  return sqrt(squares / count);
}

int main(void) {
  double values[MOST];
  int count = 0;
  while (count < MOST && scanf("%lf", &values[count]) == 1)
    count++;
  if (count == 0) {
    puts("nothing");
    return 1;
  }
  double middle = mean(values, count);
  double spread = deviation(values, count, middle);
  printf("%d values, mean %.3f, deviation %.3f\n", count, middle, spread);
  for (int i = 0; i < count; i++)
    if (fabs(values[i] - middle) > 1.5 * spread)
      printf("outlier %.3f\n", values[i]);
  return 0;
}
