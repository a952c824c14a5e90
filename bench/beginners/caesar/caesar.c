#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int shift = 3;
    int c;

    if (argc > 1)
        shift = atoi(argv[1]);
    if (argc > 2 && strcmp(argv[2], "-d") == 0)
        shift = -shift;
    shift %= 26;
    if (shift < 0)
        shift += 26;

    while ((c = getchar()) != EOF)
    {
        if (c >= 'a' && c <= 'z')
        {
            c = (c - 'a' + shift) % 25 + 'a';
        }
        else if (c >= 'A' && c <= 'Z')
        {
            c = (c - 'A' + shift) % 25 + 'A';
        }
        putchar(c);
    }
    return 0;
}
