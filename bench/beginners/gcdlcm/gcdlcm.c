#include <stdio.h>
#include <stdlib.h>

int gcd(int a, int b)
{
  int r;
  while (b != 0)
  {
    r = a % b;
    a = b;
    b = r;
  }
  return a;
}

int lcm(int a, int b)
{
  return a / gcd(a, b) * b;
}

int main()
{
  int a, b;
  int l = 1, g = 0;

  while (scanf("%d %d", &a, &b) == 2)
  {
    a = abs(a); b = abs(b);
    printf("gcd(%d,%d)=%d lcm=%d\n", a, b, gcd(a, b), lcm(a, b));
    g = gcd(g, gcd(a, b));
    l = lcm(l, lcm(a, b));
  }
  printf("all: %d %d\n", g, l);
  return 0;
}
