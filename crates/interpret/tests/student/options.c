/* A filter with options: cuts, numbers, reverses and enciphers lines. */
#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(const char *program) {
  fprintf(stderr, "usage: %s [-n] [-r] [-k N] [--width=N]\n", program);
  exit(2);
}

static void reverse(char *s) {
  for (size_t i = 0, j = strlen(s); i + 1 < j; i++) { char t = s[i]; s[i] = s[--j]; s[j] = t; }
}

static char shifted(char c, int by) {
  if (isupper((unsigned char)c)) return (char)('A' + (c - 'A' + by + 26) % 26);
  if (islower((unsigned char)c)) return (char)('a' + (c - 'a' + by + 26) % 26);
  return c;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
    { "number", no_argument, NULL, 'n' }, { "reverse", no_argument, NULL, 'r' },
    { "key", required_argument, NULL, 'k' }, { "width", required_argument, NULL, 'w' }, { 0 } };
  bool number = false, back = false; int key = 0; size_t width = 80; int c;
  while ((c = getopt_long(argc, argv, "nrk:w:", options, NULL)) != -1)
    switch (c) {
      case 'n': number = true; break;
      case 'r': back = true; break;
      case 'k': key = atoi(optarg) % 26; break;
      case 'w': { char *end; width = strtoul(optarg, &end, 0); if (*end || !width) usage(argv[0]); break; }
      default: usage(argv[0]);
    }
  char *line = NULL; size_t size = 0; ssize_t length; int count = 0;
  while ((length = getline(&line, &size, stdin)) > 0) {
    line[strcspn(line, "\n")] = '\0';
    if (back) reverse(line);
    for (char *p = line; *p; p++) *p = shifted(*p, key);
    if (number) printf("%03d: ", ++count);
    printf("%.*s%s\n", (int)width, line, strlen(line) > width ? "..." : "");
  }
  free(line);
  for (int i = optind; i < argc; i++) printf("<%s>\n", argv[i]);
  return count ? 0 : 1;
}
