#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  int k;
  if (argc < 2) { printf("usage: passcheck word...\n"); return 0; }

  for (k = 1; k < argc; k++)
  {
    char *p;
    int lower = 0, upper = 0, digit = 0, other = 0, score = 0;

    for (p = argv[k]; *p != '\0'; ++p)
    {
      if (*p >= 'a' && *p <= 'z') lower++;
      else if (*p >= 'A' && *p <= 'Z') upper++;
      else if (*p >= '0' && *p < '9') digit++;
      else other++;
    }

    if (strlen(argv[k]) >= 8) score += 2;
    if (lower > 0 && upper > 0) score++;
    if (digit > 0) score++;
    if (other > 0) score++;

    printf("%s: ", argv[k]);
    if (score >= 4) printf("strong");
    else if (score >= 2) printf("medium");
    else printf("weak");
    printf(" (%d)\n", score);
  }
  return 0;
}
