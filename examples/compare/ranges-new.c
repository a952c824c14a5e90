/* The first number that a list of ranges like "3-5" asks for; 1 where it says none. */
#include <assert.h>

int first(const char list[4])
{
    int number = 1, open = 0, first = 1, left = 0;
    for (int at = 0; at < 4; at++) {
        if (list[at] >= '0' && list[at] <= '9') {
            number = list[at] - '0';
            left = 1;
        } else if (list[at] == '-') {
            open = left;
            first = open ? number : 1;
        } else {
            assert(first != 0);
            break;
        }
    }
    return first;
}
