#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

int main(void) {
  wchar_t wide[8] = L"???????";
  char narrow[8] = "#######";
  printf("%zu\n", mbstowcs(wide, "three", 3));
  printf("%d %d\n", (int)wide[2], (int)wide[3]);
  printf("%zu %ls\n", mbstowcs(wide, "all", 8), wide);
  printf("%zu %zu\n", mbstowcs(NULL, "length", 0), wcstombs(NULL, L"four", 0));
  printf("%zu %s\n", wcstombs(narrow, L"ab", 8), narrow);
  printf("%zu %c\n", wcstombs(narrow, L"xyz", 1), narrow[1]);
  printf("%d\n", wcstombs(narrow, L"\x3b1", 8) == (size_t)-1);
  return 0;
}
