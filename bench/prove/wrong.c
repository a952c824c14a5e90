/* The same as calendar.c, with a well-known mistake: on the last day of a leap year it fails, here after ten years and more. */
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
    __VERIFIER_assume(days > 4000 && days <= 20000);
    while (days > 365) {
        if (is_leap(year)) {
            if (days > 366)
                days -= 366;
            else
                break;
        } else {
            days -= 365;
        }
        year++;
    }
    assert(days < 366);
    return 0;
}
