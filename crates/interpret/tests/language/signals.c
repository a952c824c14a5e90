#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t count, inside, deepest;
static sigjmp_buf place;

static void counted(int signal) { count += signal == SIGUSR1 ? 1 : 10; }

static void again(int signal) {
  if (++inside > deepest)
    deepest = inside;
  if (++count < 3)
    raise(signal);
  inside--;
}

static void leave(int signal) { siglongjmp(place, signal); }

static void informed(int signal, siginfo_t *information, void *context) {
  printf("%d %d\n", signal == information->si_signo, context != 0);
}

static void aborted(int signal) {
  printf("aborted by %d\n", signal == SIGABRT);
  fflush(stdout);
  _exit(7);
}

int main(void) {
  sigset_t set, old;
  sigemptyset(&set);
  printf("%d", sigismember(&set, SIGUSR1));
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigdelset(&set, SIGUSR2);
  printf("%d%d\n", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));

  signal(SIGUSR1, counted);
  signal(SIGUSR2, counted);
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR1);
  raise(SIGUSR1);
  raise(SIGUSR2);
  printf("blocked: %d\n", count);
  sigset_t waiting;
  sigpending(&waiting);
  printf("%d%d\n", sigismember(&waiting, SIGUSR1),
         sigismember(&waiting, SIGUSR2));
  sigprocmask(SIG_SETMASK, &old, 0);
  printf("delivered: %d\n", count);

  count = 0;
  signal(SIGUSR1, again);
  kill(getpid(), SIGUSR1);
  printf("one after the other: %d, %d deep\n", count, deepest);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = again;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGUSR1, &action, 0);
  count = deepest = 0;
  raise(SIGUSR1);
  printf("within each other: %d, %d deep\n", count, deepest);

  action.sa_handler = 0;
  action.sa_sigaction = informed;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGUSR2, &action, 0);
  raise(SIGUSR2);
  struct sigaction now;
  sigaction(SIGUSR2, 0, &now);
  printf("%d\n", now.sa_handler == SIG_DFL);

  signal(SIGUSR1, leave);
  for (volatile int round = 0; round < 2; round++) {
    if (sigsetjmp(place, 1) == 0)
      raise(SIGUSR1);
    else
      puts("left");
  }
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  errno = 0;
  printf("%d %d\n", raise(1000), errno == EINVAL);
  signal(SIGABRT, aborted);
  abort();
}
