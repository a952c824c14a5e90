/* Calendar dates, and months counted from January of the year 0. */
#ifndef DATE_H
#define DATE_H

#include <stdbool.h>

struct date {
    int year, month, day;
};

/* Reads YYYY-MM-DD; false when the text is no date of the calendar. */
bool date_parse(const char *text, struct date *date);

/* Less than, equal to or greater than 0 when a is before, the same as or after b. */
int date_compare(const struct date *a, const struct date *b);

/* The number of the month that the date is in. */
int date_month(const struct date *date);

/* Prints a month by its number as YYYY-MM. */
void month_print(int month);

#endif
