/* A calculator with + - * / and parentheses, one expression a line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at;
static int failed;

static long sum(void);

static void skip_blanks(void) {
  while (*at == ' ' || *at == '\t')
    at++;
}

static long factor(void) {
  skip_blanks();
  if (*at == '-') {
    at++;
    return -factor();
  }
  if (*at == '(') {
    at++;
    long value = sum();
    skip_blanks();
    if (*at != ')')
      failed = 1;
    else
      at++;
    return value;
  }
  if (!isdigit((unsigned char)*at)) {
    failed = 1;
    return 0;
  }
  char *end;
  long value = strtol(at, &end, 10);
  at = end;
  return value;
}

static long product(void) {
  long value = factor();
  for (skip_blanks(); *at == '*' || *at == '/'; skip_blanks()) {
    char op = *at++;
    long right = factor();
    if (op == '*')
      value *= right;
    else if (right == 0)
      failed = 1;
    else
      value /= right;
  }
  return value;
}

static long sum(void) {
  long value = product();
  for (skip_blanks(); *at == '+' || *at == '-'; skip_blanks()) {
    char op = *at++;
    long right = product();
    value = op == '+' ? value + right : right - value;
  }
  return value;
}

int main(void) {
  char line[128];
  while (fgets(line, sizeof line, stdin)) {
    at = line;
    failed = 0;
    long value = sum();
    skip_blanks();
    if (failed || *at != '\n')
      puts("error");
    else
      printf("%ld\n", value);
  }
  return 0;
}
