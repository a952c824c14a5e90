/* Initialisers that compilers compute: shifts into the sign, offsets by hand, comparisons of addresses, floating arithmetic. */
#include <stdio.h>
#include <stddef.h>
enum { TOP = 1 << 31, LOW = -1 << 4 };
struct s { char c; int i; struct { short x, y; } p; int a[4]; };
#define OFF(m) ((size_t)&((struct s *)0)->m)
int x = 1 << 31, y = -1 << 3;
long z = 3L << 62;
static int table[4];
static const size_t offsets[] = { OFF(i), OFF(p.y), OFF(a[2]), offsetof(struct s, a[3]), (char *)&((struct s *)0)->a - (char *)0 };
static long apart = &table[3] - &table[1];
static int same = &table[1] == table + 1;
static double d = 1.0 / 3 + 2, e = -(1e3 - 0.5);
static float f = 1 / 3.0f;
static unsigned char byte = (unsigned char)(300 + 5), *pb = &byte;
static int *last = table + 3;
static int never_used[] = { sizeof(table) / sizeof *table, 1 ? 1 : 2 };
int main(void) {
  switch (x) { case 1 << 31: puts("top"); }
  printf("%d %d %d %d %ld\n", x, TOP, y, LOW, z);
  for (int i = 0; i < 5; i++) printf("%zu ", offsets[i]);
  printf("%ld %d %.17g %g %.9g %d %d\n", apart, same, d, e, f, *pb, (int)(last - table));
  return never_used[0];
}
