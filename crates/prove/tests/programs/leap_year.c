// function: days
// answer: fails 16
// repair 2 1: year % 100 == 0
// The rule of centuries is turned round.
#include <assert.h>
void __VERIFIER_assume(int);

int days(int year)
{
    __VERIFIER_assume(year > 1582 && year < 3000);
    int leap = 0;
    if (year % 4 == 0)
        leap = 1;
    if (year % 100 != 0 && year % 400 != 0)
        leap = 0;
    assert(leap == ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0));
    return 365 + leap;
}
