/* flags: -std=gnu89 */
/* Old-style definitions take promoted arguments, called before and after, with and without a declaration. */
#include <stdio.h>

int late();
short later();
int declared(short, float);
static int sum();

int early(c, s, f, u, d) char c; short s; float f; unsigned char u; double d; { return c + s * 2 + (int)(f * 2) + u + (int)d; }
int calls() { return early(300, 70000, 1.25f, 511, 2.5) + late('a', 1.5f) + implicit('b') + later(1L << 20, 3); }
int late(c, f) char c; float f; { char *p = &c; *p += 1; return c + (int)(f * 4); }
short later(n, s) long n; unsigned short s; { return (short)(n >> 16) + s; }
int implicit(c) signed char c; { return -c; }
int declared(s, f) short s; float f; { return s + (int)f; }
static int sum(a, n) int a[]; char n; { int t = 0; while (n-- > 0) t += a[n]; return t; }
int defaulted(x, y) { return x - y; }
struct p { int x; };
int by_value(p, c) struct p p; char c; { return p.x + c; }
int point(f, c) int (*f)(); char c; { return f(c, 2.0); }
enum small { ONE = 1 } __attribute__((packed));
int packed(e) enum small e; { return e + sizeof e; }
int *where(p, c) int *p; short c; { return p + c; }

int main() {
  int a[3] = { 1, 2, 3 };
  struct p p = { 40 };
  int (*any)() = late;
  printf("%d %d %d\n", calls(), early('x', -1, 0.5, 'y', -2.0), late(-1, 2.0));
  printf("%d %d %d %d\n", declared(70000, 2.9), sum(a, 3), defaulted(5, 3), by_value(p, 258));
  printf("%d %d %d %d\n", point(late, 'c'), any('d', 1.0), packed(ONE), *where(a, 65537));
  return implicit(-7);
}
