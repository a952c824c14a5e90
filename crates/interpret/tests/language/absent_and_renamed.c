#include <stdio.h>

extern int missing(void) __attribute__((weak));
extern int gone __attribute__((weak));
static int (*functions[])(void) = {missing, 0};
static int *objects[] = {&gone};

extern int called(int) __asm__("defined");
int defined(int x) { return x + 1; }
extern int seen __asm__("held");
int held = 4;

int main(void) {
  printf("%d %d\n", missing ? 1 : 0, &gone ? 1 : 0);
  printf("%d %d\n", functions[0] == 0, objects[0] == 0);
  if (missing)
    missing();
  held++;
  printf("%d %d\n", called(1), seen);
  return 0;
}
