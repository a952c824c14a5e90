// The program closes all descriptors, changes its folder and lives on in a process of its own session.
// case 3 out.3 => 3
// case 0 out.0 => 0
// patch: return n;
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int same(int n) {
  return n / 2 * 2;
}
int main(int argc, char **argv) {
  int pipes[2], i;
  char text[32];
  ssize_t got;
  (void)argc;
  if (pipe(pipes) || fflush(stdout))
    return 1;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      int length, to = dup2(pipes[1], 100);
      if (chdir("/"))
        _exit(1);
      for (i = 0; i < 100; i++)
        close(i);
      length = snprintf(text, sizeof text, "%d", same(atoi(argv[1])));
      _exit(write(to, text, (size_t)length) != length);
    }
    _exit(0);
  }
  close(pipes[1]);
  got = read(pipes[0], text, sizeof text - 1);
  text[got > 0 ? got : 0] = 0;
  puts(text);
  return 0;
}
