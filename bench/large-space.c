/* A condition among many variables: a location with more than ten million candidates. */
#include <stdio.h>
#include <stdlib.h>

struct range { long low, high; unsigned char kind; };

int main(int argc, char **argv) {
  int a = atoi(argv[1]), b = atoi(argv[2]);
  long sum = (long)a + b;
  unsigned count = argc;
  struct range r = {a, b, 'x'};
  short third = 3, fourth = 4;
  long fifth = sum, sixth = 6;
  unsigned char seventh = 7;

  if (a > b) {
    puts("0");
  } else {
    puts("1");
  }
  return sum > 1000 && count > 5 && r.low == 77 && third == 4 && fourth + fifth + sixth + seventh == 9;
}
