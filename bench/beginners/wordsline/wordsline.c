#include <stdio.h>
#include <ctype.h>

int main()
{
    int c, in = 0;
    int words = 0;
    int line = 1;
    int total = 0;

    while ((c = getchar()) != EOF) {
        if (c == '\n') {
            printf("%d: %d\n", line, words);
            total += words;
            in = 0;
            line++;
        } else if (isspace(c)) {
            in = 0;
        } else if (!in) {
            in = 1;
            words++;
        }
    }
    printf("total: %d\n", total);
    return 0;
}
