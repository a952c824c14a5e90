// case a1b22 => 3
// case x => 0
// case -h => help
// case 77777 => 5
// schemas: function
// patch in: count
// added:     if (is_digit((unsigned char)text[i]))
#include <stdio.h>
#include <string.h>

static int is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int is_digit(int c) { return c >= '0' && c <= '9'; }
static int count(const char *text) {
  int n = 0;
  for (size_t i = 0; i < strlen(text); i++)
    if (is_letter((unsigned char)text[i]))
      n++;
  return n;
}

static int is_word(const char *a, const char *b) { return strcmp(a, b) == 0; }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (is_word(argv[i], "-h")) { puts("help"); return 0; }
    printf("%d\n", count(argv[i]));
  }
  return 0;
}
