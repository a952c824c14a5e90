// case 5 => caught 5
// case 0 => caught 0
// case -3 => 3
// patch in: check
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf back;
static int check(int n) {
  if (n > 0)
    longjmp(back, n + 1);
  return -n;
}
int main(int argc, char **argv) {
  volatile int code;
  (void)argc;
  if ((code = setjmp(back)) != 0) {
    printf("caught %d\n", code - 1);
    return 0;
  }
  printf("%d\n", check(atoi(argv[1])));
  return 0;
}
