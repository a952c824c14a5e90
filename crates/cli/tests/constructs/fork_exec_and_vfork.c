// The bug is met in a forked child, in a child of vfork, and after exec.
// case 3 => 1 1 1
// case 0 => 1 1 1
// case -1 => 0 0 0
// patch in: natural
#include <stdlib.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int natural(int n) {
  return n > 0;
}
static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), forked, vforked, executed;
  pid_t child;
  if (argc > 2)
    _exit(natural(n));
  if ((child = fork()) == 0)
    _exit(natural(n));
  forked = wait_for(child);
  if ((child = vfork()) == 0)
    _exit(natural(n));
  vforked = wait_for(child);
  if ((child = fork()) == 0) {
    execl("/proc/self/exe", "again", argv[1], "child", (char *)NULL);
    _exit(99);
  }
  executed = wait_for(child);
  printf("%d %d %d\n", forked, vforked, executed);
  return 0;
}
