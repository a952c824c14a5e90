/* A calculator: recursive descent, one expression a line, variables a to z. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at;
static double variable[26];
static jmp_buf error;

static double expression(void);
static void blanks(void) { while (isspace((unsigned char)*at)) at++; }

static double primary(void) {
  blanks();
  if (*at == '(') {
    at++; double v = expression(); blanks();
    if (*at++ != ')') longjmp(error, 1);
    return v;
  }
  if (*at == '-') { at++; return -primary(); }
  if (islower((unsigned char)*at)) return variable[*at++ - 'a'];
  char *end; double v = strtod(at, &end);
  if (end == at) longjmp(error, 2);
  at = end;
  return v;
}

static double power(void) {
  double v = primary(); blanks();
  if (*at == '^') { at++; return pow(v, power()); }
  return v;
}

static double product(void) {
  double v = power();
  for (;;) {
    blanks();
    if (*at == '*') { at++; v *= power(); }
    else if (*at == '/') { at++; double d = power(); if (d == 0) longjmp(error, 3); v /= d; }
    else if (*at == '%') { at++; v = fmod(v, power()); }
    else return v;
  }
}

static double expression(void) {
  double v = product();
  for (;;) {
    blanks();
    if (*at == '+') { at++; v += product(); }
    else if (*at == '-') { at++; v -= product(); }
    else return v;
  }
}

int main(void) {
  static const char *const messages[] = { "", "missing )", "no number", "division by zero" };
  char line[256]; int number = 0;
  while (fgets(line, sizeof line, stdin)) {
    number++; at = line; blanks();
    if (!*at) continue;
    int target = -1;
    if (islower((unsigned char)at[0]) && at[1] == '=') { target = at[0] - 'a'; at += 2; }
    int what = setjmp(error);
    if (what) { fprintf(stderr, "line %d: %s\n", number, messages[what]); printf("?\n"); continue; }
    double v = expression();
    if (target >= 0) variable[target] = v;
    printf("%g\n", v);
  }
  return 0;
}
