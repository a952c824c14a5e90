/* refused: inline assembly */
#include <stdio.h>
int main(void) {
  int x = 3, y = 0;
  puts("begins");
  __asm__("mov %1, %0" : "=r"(y) : "r"(x));
  printf("%d\n", y);
  return 0;
}
