// The program forbids itself all system calls but those that it needs, and is ended at another one.
// case 3 => 3
// case 0 => 0
// patch: return box->n;
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
struct box { int n; };
static int same(const struct box *box) {
  return box->n / 2 * 2;
}
int main(int argc, char **argv) {
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(write), ALLOW(exit_group), ALLOW(newfstatat), ALLOW(fstat), ALLOW(brk), ALLOW(ioctl),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  struct box *box = malloc(sizeof *box);
  (void)argc;
  box->n = atoi(argv[1]);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 1;
  printf("%d\n", same(box));
  return 0;
}
