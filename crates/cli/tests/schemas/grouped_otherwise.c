// case 212 => 100.0
// case 32 => 0.0
// case 50 => 10.0
// case -40 => -40.0
// patch in: celsius
// added: static double celsius(double f) { return (f - 32) * 5 / 9; }
#include <stdio.h>
#include <stdlib.h>

static double celsius(double f) { return f - 32 * 5 / 9; }

int main(int argc, char **argv) {
  printf("%.1f\n", celsius(argc > 1 ? atof(argv[1]) : 0));
  return 0;
}
