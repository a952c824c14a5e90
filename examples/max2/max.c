#include <stdio.h>
#include <stdlib.h>

/* Prints 1 when the second number is the greater of the two, else 0. */
int main(int argc, char **argv) {
  int a = atoi(argv[1]), b = atoi(argv[2]);

  if (a > b) {
    puts("0");
  } else {
    puts("1");
  }
  return 0;
}
