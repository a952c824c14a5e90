/* Run-length coding: "e" turns aaab into 3a1b, "d" turns it back. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void encode(const char *text) {
  int count = 0;
  char last = '\0';
  for (const char *at = text; *at; at++) {
    if (count > 0 && *at != last) {
      printf("%d%c", count, last);
      count = 0;
    }
    last = *at;
    count++;
  }
  if (count > 0)
    printf("%d%c", count, last);
  putchar('\n');
}

static int decode(const char *text) {
  int count = 0;
  for (const char *at = text; *at; at++) {
    if (isdigit((unsigned char)*at)) {
      count = count * 10 + (*at - '0');
      continue;
    }
    if (count == 0)
      return 0;
    for (int i = 0; i < count; i++)
      putchar(*at);
  }
  putchar('\n');
  return count == 0;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  if (strcmp(argv[1], "e") == 0) {
    encode(argv[2]);
    return 0;
  }
  if (!decode(argv[2])) {
    puts("?");
    return 1;
  }
  return 0;
}
