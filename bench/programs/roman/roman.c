/* Roman numerals to numbers and back. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int value_of(char letter) {
  switch (letter) {
  case 'I': return 1;
  case 'V': return 5;
  case 'X': return 10;
  case 'L': return 50;
  case 'C': return 100;
  case 'D': return 500;
  case 'M': return 1000;
  default: return 0;
  }
}

static int parse(const char *text) {
  int total = 0;
  int length = (int)strlen(text);
  for (int i = 0; i < length; i++) {
    int value = value_of(text[i]);
    int next = value_of(text[i + 1]);
    if (value == 0)
      return -1;
    if (value <= next)
      total -= value;
    else
      total += value;
  }
  return total;
}

static void print(int number) {
  static const char *const signs[] = {"M",  "CM", "D",  "CD", "C",  "XC", "L",
                                      "XL", "X",  "IX", "V",  "IV", "I"};
  static const int values[] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
  for (int i = 0; number > 0; i++) {
    while (number >= values[i]) {
      fputs(signs[i], stdout);
      number -= values[i];
    }
  }
  putchar('\n');
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (isdigit((unsigned char)argv[i][0]))
      print(atoi(argv[i]));
    else
      printf("%d\n", parse(argv[i]));
  }
  return 0;
}
