/* Matches names against a pattern of *, ? and [a-z] sets. */
#include <stdio.h>

static int in_set(const char *set, char c, const char **end) {
  int found = 0;
  int negated = *set == '!';
  if (negated)
    set++;
  while (*set && *set != ']') {
    if (set[1] == '-' && set[2] && set[2] != ']') {
      if (c > set[0] && c <= set[2])
        found = 1;
      set += 3;
    } else {
      if (c == *set)
        found = 1;
      set++;
    }
  }
  *end = *set ? set + 1 : set;
  return found != negated;
}

static int matches(const char *pattern, const char *name) {
  const char *rest;
  while (*pattern) {
    switch (*pattern) {
    case '*':
      while (*pattern == '*')
        pattern++;
      if (!*pattern)
        return 1;
      for (; *name; name++)
        if (matches(pattern, name))
          return 1;
      return 0;
    case '?':
      if (!*name)
        return 0;
      pattern++;
      break;
    case '[':
      if (!*name || !in_set(pattern + 1, *name, &rest))
        return 0;
      pattern = rest;
      break;
    default:
      if (*pattern != *name)
        return 0;
      pattern++;
    }
    name++;
  }
  return *name == '\0';
}

int main(int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    printf("%s %s\n", argv[i], matches(argv[1], argv[i]) ? "yes" : "no");
  return 0;
}
