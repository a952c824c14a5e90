/* The day of the year and the weekday of dates "YYYY-MM-DD". */
#include <stdio.h>

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};

static int is_leap(int year) {
  return year % 4 == 0 && year % 100 != 0 && year % 400 == 0;
}

static int days_in(int month, int year) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month == 2 && is_leap(year))
    return 29;
  return days[month - 1];
}

static int day_of_year(int year, int month, int day) {
  int number = day;
  for (int m = 1; m < month; m++)
    number += days_in(m, year);
  return number;
}

/* Days since the first of January of year 1, which was a Monday. */
static long day_number(int year, int month, int day) {
  long before = year - 1;
  return before * 365 + before / 4 - before / 100 + before / 400 + day_of_year(year, month, day);
}

int main(void) {
  int year, month, day;
  while (scanf("%d-%d-%d", &year, &month, &day) == 3) {
    if (month < 1 || month > 12 || day < 1 || day > days_in(month, year)) {
      puts("no date");
      continue;
    }
    printf("%d %s\n", day_of_year(year, month, day), weekdays[day_number(year, month, day) % 7]);
  }
  return 0;
}
