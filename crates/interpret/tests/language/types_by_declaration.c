/* flags: -std=gnu11 */
/* Names of types with several meanings: in scopes, in functions, as tags and typedefs, beside keywords of later C. */
#include <stdio.h>
#include <stddef.h>

typedef int bool;
typedef unsigned char true_t;
struct s { int a; long b; };
typedef struct s *P;
typedef short T;
typedef struct { T x; } anon;
enum e { A = 1, B };
struct s global = { 1, 2 }, *pg = &global, table[3] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };
P gp = &global;
T t = -3, *pt = &t;
anon an = { 4 }, *pan = &an;
enum e ge = B;
bool flag = 300;
bool flags[2] = { -1, 256 };

static struct s make(int n) { struct s r = { n, n * 2L }; return r; }
static struct s *find(int n) { return &table[n]; }
static int apply(struct s (*f)(int), int n) { return f(n).a; }

struct node { struct node *next; struct s value; struct inner { char c; struct s *link; } in; };
struct inner outer = { 'o', &global };

static long first(void) {
  struct s { char c[7]; double d; } l = { "first", 1.5 }, *p = &l;
  typedef struct s *P;
  typedef struct s T[2];
  T both = { { "one", 1 }, { "two", 2 } };
  P lp = both;
  enum e { A = -5, B } x = A;
  p->d += lp[1].d;
  printf("%zu %zu %zu %s %g %d\n", sizeof(struct s), sizeof(T), sizeof *gp, (lp + 1)->c, p->d, x < 0);
  printf("%d %d %ld %d\n", global.a, pg->a, gp->b, (pg + 0)->a + table[1].a + find(2)->a + make(7).a);
  {
    struct s { _Bool one; } k = { 5 }, *q = &k;
    typedef char T;
    T c = 300;
    printf("%zu %d %d %zu\n", sizeof *q, q->one, c, sizeof(T));
    printf("%zu %s\n", sizeof *p, p->c);
  }
  for (struct s i = { "for" }; i.d < 2; i.d++)
    printf("%s %zu\n", i.c, sizeof i);
  return (P)both == lp ? sizeof(struct s) : 0;
}

static long second(void) {
  struct s;
  struct s *later = NULL;
  struct s { struct s *self; int v; } me = { &me, 9 };
  later = me.self;
  typedef long T;
  T values[2] = { 1L << 40, 2 }, *p = values;
  __auto_type other = pg;
  __typeof__(global) copy = global;
  __typeof__(*pg) *pc = &copy;
  const __typeof__(((struct s *)0)->v) *member = &later->v;
  copy.b = 77;
  printf("%d %ld %zu %ld\n", other->a, pc->b, sizeof(T), *p >> 38);
  printf("%d %d %d %d\n", later->self->v, *member, *pt, (*pan).x);
  p++;
  *p += 1;
  return *p + ((struct s){ .v = 4 }).v + apply(make, 6);
}

static int third(T n) {
  typedef union { int i; float f; } anon;
  anon u = { .f = 1 };
  anon *pu = &u;
  typedef struct { anon in; char name[3]; } nest;
  nest m = { { 7 }, "xy" }, *pm = &m;
  struct { int a; } one = { 1 }, *po = &one;
  struct { char a; } two = { 'c' };
  return (pu->i >> 23) + pm->in.i + (int)sizeof(*pm) + po->a + two.a + pan->x + n;
}

static int fourth(void) {
  typedef struct { short v[3]; } anon;
  anon list[2] = { { { 1, 2, 3 } }, { { 4, 5, 6 } } };
  anon *end = list + 2;
  int sum = 0;
  for (anon *at = list; at < end; at++)
    sum += at->v[1] + ({ struct s { short q; } w = { at->v[2] }; w; }).q;
  return sum + (int)(end - list);
}

int main(void) {
  struct node n = { &n, { 5, 6 }, { 'i', &n.value } };
  bool local = 2;
  printf("%ld %ld %d %d\n", first(), second(), third(70000), fourth());
  printf("%d %zu %d %d %d\n", flag, sizeof(bool), flags[0], flags[1], local);
  printf("%ld %c %c %d\n", n.next->in.link->b, n.in.c, outer.c, outer.link->a);
  printf("%d %d\n", ge, (ge ? gp : pg)->a);
  return (bool)3;
}
