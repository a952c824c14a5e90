// The program closes all descriptors and lives on in a session of its own, in another folder.
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
  int pipes[2], i;
  char answer = '?';
  (void)argc;
  if (pipe(pipes))
    return 1;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      int to = dup2(pipes[1], 100);
      if (chdir("/"))
        _exit(1);
      for (i = 0; i < 100; i++)
        close(i);
      clearenv();
      answer = natural(atoi(argv[1])) ? '1' : '0';
      _exit(write(to, &answer, 1) != 1);
    }
    _exit(0);
  }
  close(pipes[1]);
  if (read(pipes[0], &answer, 1) != 1)
    return 1;
  putchar(answer);
  putchar('\n');
  return 0;
}
