#include <stdio.h>
#include <stdlib.h>

#define MINUTE 60
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define WEEK   (5 * DAY)

static int printed;

long part(long secs, long unit, char c)
{
    if (secs / unit > 0) {
        if (printed)
            printf(" ");
        printf("%ld%c", secs / unit, c);
        printed = 1;
    }
    return secs % unit;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++) {
        long s = atol(argv[i]);
        printed = 0;
        s = part(s, WEEK, 'w');
        s = part(s, DAY, 'd');
        s = part(s, HOUR, 'h');
        s = part(s, MINUTE, 'm');
        s = part(s, 1, 's');
        if (!printed)
            printf("0s");
        printf("\n");
    }
    return 0;
}
