#include <stdio.h>

typedef int four __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));
typedef short eight __attribute__((vector_size(16)));
typedef unsigned char bytes __attribute__((vector_size(8)));
typedef double doubles __attribute__((vector_size(16)));

static void show(four v) { printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]); }

static four added(four a, four b) { return a + b; }

static four constant = {1, -2, 3};
static union {
  four v;
  int each[4];
} shared;
struct both {
  char tag;
  four v;
};

int main(int argc, char **argv) {
  four a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
  show(added(a, b) * 2 - a);
  show(a < b);
  show(a == (four){1, 0, 3, 0});
  show(-a);
  show(~a);
  show(b / a % 7);
  show(a << 2);
  show((b >> a) | 1);
  a[argc] = 100;
  a += 5;
  a ^= b;
  show(a);
  a[2]++;
  printf("%d %d\n", (a & b)[3], a[argc + 1]);
  four max = {0x7fffffff, -1, 0, 1};
  show(max + 1);
  floats f = {1.5, 2.5, 3.5, 4.5};
  f = f * f + 1.0f;
  printf("%g %g\n", f[0], f[3]);
  show(f > 10);
  show((four)f);
  eight s = {1, 2, 3, 4, 5, 6, 7, 32767};
  s <<= 1;
  s += 3;
  printf("%d %d\n", s[0], s[7]);
  bytes u = {250, 1};
  u += 10;
  printf("%d %d %zu\n", u[0], u[7], sizeof u);
  doubles d = {1, 2};
  d /= 4;
  printf("%g\n", d[1]);
  show(constant);
  shared.v = constant;
  printf("%d\n", shared.each[1]);
  struct both x = {'x', {4, 3, 2, 1}}, y = x;
  show(y.v);
  four *p = &x.v;
  (*p)[1] = 9;
  show(*p);
  show(argc > 5 ? a : x.v);
  printf("%zu %zu\n", _Alignof(four), sizeof(struct both));
  long long whole = (long long)u;
  printf("%llx\n", whole);
  show(__builtin_convertvector(f, four));
  return a[0] & 1;
}
