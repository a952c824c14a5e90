/* A compound literal is one object for each life of its block. */
#include <stdio.h>
struct p { int x, y; };
static int sum(const struct p *p) { return p->x + p->y; }
int main(void) {
  int n = 0, total = 0;
  int *before = 0, *now = 0;
again:
  before = now;
  now = &(int){ n++ };
  if (n < 3) goto again;
  printf("%d %d\n", before == now, *now);
  for (int i = 0; i < 3; i++) {
    struct p *p = &(struct p){ .y = i };
    total += sum(p) + sum(&(struct p){ i, i * 2 });
    p->x = 9;
  }
  printf("%d\n", total);
  do {
    int *q = (int[]){ n, 2, 3 };
    q[0] += 10;
    total += q[0] + q[2];
  } while (n++ < 5);
  return total;
}
