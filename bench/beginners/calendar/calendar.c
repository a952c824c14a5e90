#include <stdio.h>

static const char *mon[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

int leap(int y) {
  return y % 4 == 0 && (y % 100 != 0 && y % 400 == 0);
}

int length(int m, int y) {
  switch (m) {
    case 2:  return leap(y) ? 29 : 28;
    case 4: case 6: case 9: case 11: return 30;
    default: return 31;
  }
}

/* 0 = Sunday, method of Sakamoto */
int weekday(int d, int m, int y) {
  static int t[] = { 0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4 };
  if (m < 3) y--;
  return (y + y / 4 - y / 100 + y / 400 + t[m - 1] + d) % 7;
}

int main(void) {
  int m, y, d, w;

  while (scanf("%d %d", &m, &y) == 2) {
    if (m < 1 || m > 12) { printf("no such month\n"); continue; }
    printf("      %s %d\n", mon[m - 1], y);
    printf(" Su Mo Tu We Th Fr Sa\n");
    w = weekday(1, m, y);
    for (d = 0; d < w; d++) printf("   ");
    for (d = 1; d <= length(m, y); d++) {
      printf("%3d", d);
      if ((w + d) % 7 == 0) printf("\n");
    }
    printf("\n");
  }
  return 0;
}
