/* Computed goto: tables of labels, differences of labels, local labels, one that is never reached. */
#include <stdio.h>

enum { PUSH, ADD, MUL, PRINT, STOP };
static int machine(const unsigned char *code) {
  static const void *const table[] = { &&push, &&add, &&mul, &&print, &&stop };
  int stack[16], top = 0, steps = 0;
#define NEXT goto *table[steps++, *code++]
  NEXT;
push: stack[top++] = *code++; NEXT;
add: top--; stack[top - 1] += stack[top]; NEXT;
mul: top--; stack[top - 1] *= stack[top]; NEXT;
print: printf("%d\n", stack[top - 1]); NEXT;
stop: return steps;
}
static int offsets(int n) {
  static const int table[] = { &&one - &&one, &&two - &&one, &&three - &&one };
  goto *(&&one + table[n]);
one: return 1;
two: return 2;
three: return 3;
}
#define FIND(n, wanted) ({ __label__ found; int i = 0; for (;; i++) if (i * (n) >= (wanted)) goto found; found: i; })
static int twice(void) { return FIND(3, 10) * 100 + FIND(4, 17); }
static int count(int n) {
  void *to = n & 1 ? &&odd : &&even;
  int sum = 0;
loop:
  if (n-- == 0) return sum;
  goto *to;
odd: sum += 1; to = &&even; goto loop;
even: sum += 10; to = &&odd; goto loop;
}
static void never(int n) {
  static void *l[] = { &&a };
  goto *l[n];
a:;
}
int main(int argc, char **argv) {
  static const unsigned char code[] = { PUSH, 6, PUSH, 7, MUL, PRINT, PUSH, 3, ADD, PRINT, STOP };
  printf("%d\n", machine(code));
  printf("%d%d%d %d %d\n", offsets(0), offsets(1), offsets(2), twice(), count(5));
  if (argc > 5)
    never(argc);
  return 0;
}
