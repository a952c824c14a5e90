#include <stdio.h>
#include <ctype.h>

/* check ISBN-10 numbers, dashes are allowed */
int main(void)
{
    char line[64];

    while (fgets(line, sizeof line, stdin)) {
        int sum = 0, n = 0, bad = 0;
        char *p;

        for (p = line; *p && *p != '\n'; p++) {
            int d;
            if (*p == '-')
                continue;
            if (isdigit((unsigned char)*p))
                d = *p - '0';
            else if (*p == 'X' && n == 10)
                d = 10;
            else {
                bad = 1;
                break;
            }
            sum += (10 - n) * d;
            n++;
        }
        if (bad || n != 10)
            printf("malformed\n");
        else if (sum % 11 == 0)
            printf("valid\n");
        else
            printf("invalid\n");
    }
    return 0;
}
