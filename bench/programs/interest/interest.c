/* A savings account in cents: interest is rounded half up each year, and paid out above a limit. */
#include <stdio.h>
#include <stdlib.h>

/* The rate is in hundredths of a per cent. */
static long interest(long cents, int rate) {
  return (cents * rate + 5000) / 10000;
}

static long fee_of(long cents) {
  if (cents >= 100000)
    return 0;
  if (cents >= 10000)
    return 120;
  return 250;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  long cents = atol(argv[1]);
  int rate = atoi(argv[2]);
  int years = atoi(argv[3]);
  long limit = atol(argv[4]);
  long paid = 0;
  for (int year = 1; year <= years; year++) {
    long fee = fee_of(cents);
    cents += interest(cents, rate);
    cents -= fee;
    if (limit > 0 && cents > limit) {
      paid += cents - limit;
      cents = limit;
    }
    printf("%d %ld.%02ld\n", year, cents / 100, cents % 100);
  }
  printf("paid %ld.%02ld\n", paid / 100, paid % 100);
  return 0;
}
