/* Functions that a typedef declares, and functions that return functions. */
#include <stdio.h>
typedef int op(int, int);
typedef struct { int v; } box;
typedef box maker(char);
static op add, sub;
static maker make;
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static box make(char c) { box b = { c }; return b; }
static op *choose(int c) { return c ? add : &sub; }
static int (*two(int x))(int, int) { return x ? sub : add; }
static int (*(*three(void))(int))(int, int) { return two; }
static op *table[] = { add, sub };
static int apply(op f, int a) { return f(a, 1); }
int main(void) {
  maker *m = make;
  printf("%d %d %d\n", choose(1)(5, 3), choose(0)(5, 3), three()(1)(9, 4));
  printf("%d %d %d %d\n", table[1](7, 2), apply(add, 3), m('a').v, (*m)(300 & 127).v);
  return 0;
}
