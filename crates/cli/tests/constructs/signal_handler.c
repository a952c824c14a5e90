// A timer interrupts the location at any moment, and the handler visits the same location.
// case 1 => 2000
// case 0 => 0
// lines: 11-18
// patch in: next
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile sig_atomic_t handled;
static int next(int x) {
  return x;
}
static void on_alarm(int number) {
  (void)number;
  handled = next(handled) > 0 || handled;
}
int main(int argc, char **argv) {
  struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  int i = 0, n = 0;
  (void)argc;
  if (atoi(argv[1])) {
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    for (i = 0; i < 2000; i++)
      n = n + (next(i % 100) == i % 100 + 1 ? 1 : 0);
    setitimer(ITIMER_REAL, &never, NULL);
  }
  printf("%d\n", n);
  return 0;
}
