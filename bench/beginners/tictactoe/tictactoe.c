#include <stdio.h>

char b[3][4];

char winner()
{
  int i;
  for (i = 0; i < 3; i++) {
    if (b[i][0] != '.' && b[i][0] == b[i][1] && b[i][1] == b[i][2])
      return b[i][0];
    if (b[0][i] != '.' && b[0][i] == b[1][i] && b[i][1] == b[2][i])
      return b[0][i];
  }
  if (b[1][1] != '.') {
    if (b[0][0] == b[1][1] && b[1][1] == b[2][2])
      return b[1][1];
    if (b[0][2] == b[1][1] && b[1][1] == b[2][0])
      return b[1][1];
  }
  return 0;
}

int full()
{
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      if (b[i][j] == '.')
        return 0;
  return 1;
}

int main()
{
  char w;
  while (scanf("%3s %3s %3s", b[0], b[1], b[2]) == 3) {
    w = winner();
    if (w)
      printf("%c wins\n", w);
    else if (full())
      puts("draw");
    else
      puts("game goes on");
  }
  return 0;
}
