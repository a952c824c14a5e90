#include <stdio.h>
#include <ctype.h>

int main(void)
{
    int c;
    int letters = 0, digits = 0, spaces = 0, others = 0, all = 0;

    while ((c = getchar()) != EOF) {
        all++;
        if (isalpha(c))
            letters++;
        else if (isdigit(c))
            digits++;
        else if (isspace(c))
            spaces++;
        else
            others++;
    }
    if (all == 0) {
        puts("empty");
        return 0;
    }
    printf("letters %5.1f%%\n", 100.0 * letters / all);
    printf("digits  %5.1f%%\n", 100.0 * digits / all);
    printf("spaces  %5.1f%%\n", 100.0 * (spaces / all));
    printf("others  %5.1f%%\n", 100.0 * others / all);
    return 0;
}
