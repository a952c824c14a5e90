/* Wraps the words of standard input into lines of a width. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char word[256];
static int column;

static int read_word(void) {
  int length = 0;
  int c = getchar();
  int newlines = 0;
  while (c != EOF && isspace(c)) {
    if (c == '\n')
      newlines++;
    c = getchar();
  }
  if (newlines > 1)
    word[length++] = '\n';
  while (c != EOF && !isspace(c)) {
    if (length < (int)sizeof word - 1)
      word[length++] = (char)c;
    c = getchar();
  }
  if (c == '\n')
    ungetc(c, stdin);
  word[length] = '\0';
  return length;
}

static void put_word(const char *text, int width) {
  int length = (int)strlen(text);
  if (column > 0 && column + length > width) {
    putchar('\n');
    column = 0;
  }
  if (column > 0) {
    putchar(' ');
    column++;
  }
  fputs(text, stdout);
  column += length;
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 72;
  int length;
  while ((length = read_word()) > 0) {
    const char *text = word;
    if (word[0] == '\n') {
      fputs(column > 0 ? "\n\n" : "\n", stdout);
      column = 0;
      text = word + 1;
    }
    if (*text)
      put_word(text, width);
  }
  if (column > 0)
    putchar('\n');
  return 0;
}
