// The program clears its environment and executes itself; the bug is met only then.
// case 3 => 1
// case 0 => 1
// case -1 => 0
// patch in: natural
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int natural(int n) {
  return n > 0;
}
int main(int argc, char **argv) {
  char *none[] = {NULL};
  char *again[] = {"again", argv[1], "child", NULL};
  if (argc > 2) {
    printf("%d\n", natural(atoi(argv[1])));
    return 0;
  }
  execve("/proc/self/exe", again, none);
  return 1;
}
