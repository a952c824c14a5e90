#include "date.h"

#include <stdio.h>

static bool leap_year(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && leap_year(year) ? 29 : days[month - 1];
}

/* Reads exactly `digits` digits and moves behind them; -1 when there are fewer. */
static int read_number(const char **text, int digits)
{
    int value = 0;

    for (; digits > 0; digits--, (*text)++) {
        if (**text < '0' || **text > '9') {
            return -1;
        }
        value = value * 10 + (**text - '0');
    }
    return value;
}

bool date_parse(const char *text, struct date *date)
{
    date->year = read_number(&text, 4);
    if (date->year < 0 || *text++ != '-') {
        return false;
    }
    date->month = read_number(&text, 2);
    if (date->month < 1 || date->month > 12 || *text++ != '-') {
        return false;
    }
    date->day = read_number(&text, 2);
    return date->day >= 1 && date->day <= days_in_month(date->year, date->month) && *text == '\0';
}

int date_compare(const struct date *a, const struct date *b)
{
    if (a->year != b->year) {
        return a->year - b->year;
    }
    if (a->month != b->month) {
        return a->month - b->month;
    }
    return a->day - b->day;
}

int date_month(const struct date *date)
{
    return date->year * 12 + date->month - 1;
}

void month_print(int month)
{
    printf("%04d-%02d", month / 12, month % 12 + 1);
}
