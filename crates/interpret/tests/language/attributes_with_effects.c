/* Constructors, destructors, cleanup: what is called without a call. */
#include <stdio.h>
#include <stdlib.h>

#define EARLY __attribute__((constructor(201)))
static int order;
static int log_of[8];
__attribute__((constructor)) static void last(void) { log_of[order++] = 3; }
__attribute__((constructor(202))) void second(void) { log_of[order++] = 2; }
EARLY static void first(int argc, char **argv) { log_of[order++] = argc; }
__attribute__((__constructor__)) void very_last(void);
void very_last(void) { log_of[order++] = 4; }
static void registered(void) { puts("registered"); }
__attribute__((destructor)) static void ends(void) { printf("ends %d\n", order); }
__attribute__((destructor(300))) static void ends_later(void) { puts("ends later"); }
__attribute__((destructor)) static void ends_first(void) { puts("ends first"); }

static int depth;
static void leave(int *p) { printf("leave %d at %d\n", *p, depth); *p = -1; }
static void release(char **p) { printf("release %s\n", *p ? *p : "nothing"); free(*p); }
struct s { int v; };
static void reset(struct s *p) { printf("reset %d\n", p->v); p->v = 0; }
#define SCOPED __attribute__((cleanup(leave)))

static int returns(int n) {
  SCOPED int a = n;
  if (n > 1) {
    SCOPED int b = n * 10;
    return a + b;
  }
  SCOPED int c = 5;
  return c;
}
static struct s by_value(void) {
  __attribute__((cleanup(reset))) struct s s = { 7 };
  return s;
}
static void loops(void) {
  for (int i = 0; i < 4; i++) {
    SCOPED int a = 100 + i;
    depth = i;
    if (i == 1)
      continue;
    { SCOPED int b = 200 + i; if (i == 2) break; }
    switch (i) { case 0: { SCOPED int d = 300; break; } }
  }
}
static void jumps(int n) {
  int times = 0;
again:
  printf("again %d\n", times);
  SCOPED int a = 400 + times;
  {
    SCOPED int b = 500 + times;
    if (times++ < n)
      goto again;
    { SCOPED int c = 600; goto out; }
  }
out:
  puts("out");
  {
    SCOPED int e = 700;
    if (n == 99)
      goto out;
  }
}

int main(void) {
  __attribute__((cleanup(release))) char *text = malloc(6);
  for (int i = 0; i < 5; i++) text[i] = 'a' + i;
  text[5] = 0;
  atexit(registered);
  printf("%d %d %d %d %d\n", order, log_of[0], log_of[1], log_of[2], log_of[3]);
  printf("%d\n", returns(1));
  printf("%d\n", returns(2));
  printf("%d\n", by_value().v);
  loops();
  jumps(1);
  int x = ({ SCOPED int t = 9; t + 1; });
  printf("%d\n", x);
  return x;
}
