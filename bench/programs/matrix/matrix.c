/* Powers of a square matrix: the size, the exponent, then the elements. */
#include <stdio.h>
#include <string.h>

enum { MOST = 6 };

static void multiply(const long *left, const long *right, long *result, int n) {
  for (int row = 0; row < n; row++) {
    for (int column = 0; column < n; column++) {
      long sum = 0;
      for (int k = 0; k < n; k++)
        sum += left[row * n + k] * right[column * n + k];
      result[row * n + column] = sum;
    }
  }
}

static long trace(const long *matrix, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += matrix[i * n + i];
  return sum;
}

int main(void) {
  long base[MOST * MOST] = {0}, power[MOST * MOST] = {0}, product[MOST * MOST] = {0};
  int n, exponent;
  if (scanf("%d %d", &n, &exponent) != 2 || n < 1 || n > MOST)
    return 2;
  for (int i = 0; i < n * n; i++)
    if (scanf("%ld", &base[i]) != 1)
      return 2;
  for (int i = 0; i < n; i++)
    power[i * n + i] = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1) {
      multiply(power, base, product, n);
      memcpy(power, product, sizeof power);
    }
    multiply(base, base, product, n);
    memcpy(base, product, sizeof base);
    exponent /= 2;
  }
  for (int row = 0; row < n; row++)
    for (int column = 0; column < n; column++)
      printf("%ld%c", power[row * n + column], column == n - 1 ? '\n' : ' ');
  printf("trace %ld\n", trace(power, n));
  return 0;
}
