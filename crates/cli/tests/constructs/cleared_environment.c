// The program clears its environment and executes itself; the bug is met only then.
// case 3 => 3
// case 0 => 0
// patch: return n;
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int same(int n) {
  return n / 2 * 2;
}
int main(int argc, char **argv) {
  char *none[] = {NULL};
  char *again[] = {"again", argv[1], "child", NULL};
  if (argc > 2) {
    printf("%d\n", same(atoi(argv[1])));
    return 0;
  }
  execve("/proc/self/exe", again, none);
  return 1;
}
