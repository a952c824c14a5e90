/* Structures without a tag: behind #line, as generated parsers have them, inside of sizeof, and as members. */
#include <stdio.h>

struct { int before; } plain = { 2 };
#line 20 "words.y"
static struct {
  short kind;
  const char *name;
} words[] = { { 7, "if" }, { 9, "else" } };
typedef struct { int line; union { long number; char *text; }; } token;
#line 300 "words.tab.c"
enum { FIRST = 4, SECOND } state = SECOND;
# 12 "words.y"
static struct { struct { char low, high; } pair; } nested = { { 1, 2 } };

int main(void) {
  token t = { 3, { 44 } };
  printf("%d %d %s\n", plain.before, words[1].kind, words[0].name);
  printf("%d %ld %d\n", t.line, t.number, state == SECOND);
  printf("%d\n", nested.pair.high);
#line 5
  struct { int x; } local = { FIRST };
  printf("%d\n", local.x);
  printf("%d %d %d\n", (int)sizeof(struct { char c; long l; short s; }), (int)sizeof(struct tagged { char c[3]; short s; }),
         (int)sizeof(union { char c[9]; int i; }));
  printf("%d\n", (int)_Alignof(struct { char c; double d; }));
  return 0;
}
