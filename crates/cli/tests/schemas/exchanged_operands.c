// case 8 2 => 4
// case 5 5 => 1
// case 12 4 => 3
// case 100 10 => 10
// patch in: main
// added:   printf("%d\n", pop() / last);
#include <stdio.h>
#include <stdlib.h>

static int stack[8], top;

static int pop(void) { return top > 0 ? stack[--top] : 0; }

int main(int argc, char **argv) {
  for (int i = 1; i < argc && top < 8; i++)
    stack[top++] = atoi(argv[i]);
  int last = pop();
  printf("%d\n", last / pop());
  return 0;
}
