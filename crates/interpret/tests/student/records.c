/* A small database of students in a binary file, with dates and a sorted report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum grade { A = 1, B, C, D, F };
struct student { char name[16]; struct { unsigned day : 5, month : 4, year : 12; } born; enum grade grade; float average; };

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct student *)a)->name, ((const struct student *)b)->name);
}

static enum grade grade_of(float x) {
  switch ((int)(x / 10)) {
    case 10: case 9: return A;
    case 8: return B;
    case 7: return C;
    case 6: return D;
    default: return F;
  }
}

int main(void) {
  FILE *store = fopen("students.bin", "wb+");
  if (!store) { fprintf(stderr, "cannot open: %s\n", strerror(errno)); return 2; }
  struct student s; unsigned y, m, d; int n = 0;
  memset(&s, 0, sizeof s);
  while (scanf("%15s %u-%u-%u %f", s.name, &y, &m, &d, &s.average) == 5) {
    s.born.year = y; s.born.month = m; s.born.day = d; s.grade = grade_of(s.average);
    if (fwrite(&s, sizeof s, 1, store) != 1) return 3;
    n++;
  }
  if (ftell(store) != (long)(n * sizeof s)) return 4;
  rewind(store);
  struct student *all = malloc(n * sizeof *all);
  if (fread(all, sizeof *all, n, store) != (size_t)n) return 5;
  fclose(store); remove("students.bin");
  qsort(all, n, sizeof *all, by_name);
  for (int i = 0; i < n; i++) {
    struct tm born = { .tm_year = (int)all[i].born.year - 1900, .tm_mon = (int)all[i].born.month - 1, .tm_mday = all[i].born.day };
    mktime(&born);
    char day[32]; strftime(day, sizeof day, "%A %d %b %Y", &born);
    printf("%-8s %5.1f %c  %s\n", all[i].name, all[i].average, "?ABCDF"[all[i].grade], day);
  }
  struct student *found = bsearch("cleo", all, n, sizeof *all, by_name);
  printf("cleo: %s\n", found ? "found" : "not found");
  free(all);
  return 0;
}
