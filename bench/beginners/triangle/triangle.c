#include <stdio.h>

enum kind { NONE, EQUI, ISO, RIGHT, SCALENE };

static void swap(long *a, long *b) { long t = *a; *a = *b; *b = t; }

enum kind classify(long a, long b, long c)
{
  if (a > b) swap(&a, &b);
  if (b > c) swap(&b, &c);
  if (a > b) swap(&a, &b);

  if (a <= 0)
    return NONE;
  if (a + b < c)
    return NONE;
  if (a == c)
    return EQUI;
  if (a == b || b == c)
    return ISO;
  if (a * a + b * b == c * c)
    return RIGHT;
  return SCALENE;
}

int main(void)
{
  const char *names[] = { "not a triangle", "equilateral", "isosceles", "right", "scalene" };
  long a, b, c;

  while (scanf("%ld %ld %ld", &a, &b, &c) == 3)
    puts(names[classify(a, b, c)]);
  return 0;
}
