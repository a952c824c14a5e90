/* Counts words: what stands between blanks. */
#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int words = 0, within = 0, c;
    while ((c = getchar()) != EOF) {
        if (isspace(c)) {
            within = 0;
        } else if (!within) {
            within = 1;
            words++;
        }
    }
    printf("%d\n", words);
    return 0;
}
