/* __builtin_types_compatible_p, and what is chosen by it. */
#include <stdio.h>
typedef struct { int a; } box;
struct tag { int a; };
#define IS(x, t) __builtin_types_compatible_p(__typeof__(x), t)
#define KIND(x) __builtin_choose_expr(IS(x, int), 1, __builtin_choose_expr(IS(x, char *), 2, __builtin_choose_expr(IS(x, box), 3, 4)))
int main(void) {
  int i = 0; const int c = 1; char *s = "", t[2] = ""; box b; struct tag g; long l;
  printf("%d %d %d %d %d\n", IS(i, int), IS(c, int), IS(s, char *), IS(s, const char *), IS(l, long long));
  printf("%d %d %d %d\n", IS(b, box), IS(g, struct tag), IS(b, struct tag), IS(&b, box *));
  printf("%d %d %d %d\n", KIND(i), KIND(s), KIND(b), KIND(l));
  int n[3];
  printf("%d %d %d\n", IS(n, int *), IS(s, char[1]), __builtin_types_compatible_p(__typeof__(n), __typeof__(&n[0])));
  return 0;
}
