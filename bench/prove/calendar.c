/* The year and the day within it, of a number of days since 1980. */
#include <assert.h>

int nondet_int(void);
void __VERIFIER_assume(int);

static int is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int main(void)
{
    int days = nondet_int(), year = 1980;
    __VERIFIER_assume(days > 0 && days <= 20000);
    while (days > 365 + is_leap(year)) {
        days -= 365 + is_leap(year);
        year++;
    }
    assert(days >= 1 && days <= 366);
    assert(days < 366 || is_leap(year));
    return 0;
}
