/* Members of what is no lvalue: results of calls, conditionals, assignments, statement expressions, arguments of va_arg. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct pair { int first; long second; };
struct bits { unsigned low : 3; int middle : 5; unsigned long high : 40; _Bool on : 1; };
union any { int i; unsigned char bytes[8]; double d; struct pair p; };
struct nest { char name[6]; struct pair inner; union { int u; float f; }; struct bits b; struct { int deep; } *p; };
struct small { char c; };
struct floats { float x; double y; long double z; };
struct fun { int (*call)(int); const char *text; };

static int calls;
static int twice(int n) { return 2 * n; }
static struct pair pair(int a, long b) { struct pair p = { a, b }; calls++; return p; }
static struct bits bits(int n) { struct bits b = { n, -n, (unsigned long)n << 33, n & 1 }; calls++; return b; }
static union any any(int n) { union any u = { 0 }; u.i = n; calls++; return u; }
static struct nest nest(int n) {
  static struct { int deep; } deep;
  struct nest s = { "abcde", { n, n + 1 }, { n + 2 }, { n, n, n, 1 }, (void *)&deep };
  deep.deep = n + 3;
  calls++;
  return s;
}
static struct small small(int n) { struct small s = { n }; return s; }
static struct floats floats(double d) { struct floats f = { d, d * 2, d * 3 }; return f; }
static struct fun fun(void) { struct fun f = { twice, "text" }; return f; }

static int variadic(int n, ...) {
  va_list list;
  int sum = 0;
  va_start(list, n);
  while (n-- > 0)
    sum += va_arg(list, struct pair).first;
  sum += (int)va_arg(list, union any).p.second;
  va_end(list);
  return sum;
}

int main(void) {
  struct pair x = { 1, 2 }, y = { 3, 4 };
  volatile int yes = 1;
  printf("%d %ld\n", pair(5, 6).first, pair(7, 8).second);
  printf("%d %d\n", ldiv(17, 5).rem == 2, div(-17, 5).quot);
  printf("%u %d %lu %d\n", bits(7).low, bits(9).middle, (unsigned long)bits(5).high, bits(3).on);
  printf("%d %d\n", any(258).i, any(258).bytes[0] + any(258).bytes[1]);
  printf("%c %s %ld %d %u %d\n", nest(1).name[3], nest(2).name, nest(3).inner.second, nest(4).u, nest(5).b.low, nest(6).p->deep);
  printf("%ld %d\n", (yes ? x : y).second, (yes ? y : pair(9, 9)).first);
  printf("%d %ld\n", (x = y).first, (yes++, y).second);
  printf("%d %d\n", ({ struct pair t = { 11, 12 }; t; }).first, ({ struct nest t = nest(8); t; }).name[1]);
  printf("%d %d\n", (struct pair){ 13, 14 }.first, ((union any){ .d = 1.5 }).bytes[7]);
  printf("%d %d\n", small(-5).c, (signed char)small(300).c);
  printf("%g %g %Lg\n", floats(1.5).x, floats(1.5).y, floats(1.5).z);
  printf("%d %s %c\n", fun().call(21), fun().text, fun().text[2]);
  printf("%d\n", variadic(2, pair(1, 0), pair(2, 0), (union any){ .p = { 3, 4 } }));
  if (bits(2).low && !bits(2).on && pair(0, 0).first == 0 && any(3).i)
    puts("conditions");
  switch (pair(2, 3).first) { case 2: puts("two"); break; default: puts("other"); }
  x.first += pair(100, 0).first;
  x.second = -pair(0, 5).second;
  y = nest(40).inner;
  printf("%d %ld %d\n", x.first, x.second, y.first + nest(50).inner.first);
  (void)pair(1, 1).first;
  pair(1, 1).second;
  int a[4] = { 0 };
  a[pair(2, 0).first] = ~pair(3, 0).first;
  printf("%d %d %d\n", a[2], (int)sizeof(pair(1, 2).first), calls);
  int sum = 0;
  for (int i = 0; i < pair(4, 0).first; i++)
    sum += pair(i, i).second * (i & 1 ? pair(1, 1) : x).first;
  printf("%d\n", sum);
  const char *name = nest(7).p ? "set" : "null";
  puts(name);
  return pair(42, 0).first;
}
