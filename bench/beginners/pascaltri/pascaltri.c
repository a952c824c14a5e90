#include <stdio.h>
#include <stdlib.h>

/* prints the first rows of Pascal's triangle, default is 5 */

int main(int argc, char **argv) {
  int rows = 5;
  int row[32] = {0};
  int r, k;

  if (argc > 1) {
    rows = atoi(argv[1]);
  }
  if (rows > 20) rows = 20;
  row[0] = 1;
  for (r = 0; r < rows; r++) {
    for (k = 0; k < rows - r - 1; k++)
      printf("  ");
    for (k = 0; k <= r; k++)
      printf("%4d", row[k]);
    printf("\n");
    for (k = r; k > 0; k--)
      row[k] += row[k - 1];
  }
  return 0;
}
