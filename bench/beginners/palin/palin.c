#include <stdio.h>
#include <ctype.h>
#include <string.h>

int clean(char *dst, const char *src)
{
    int n = 0;
    while (*src) {
        if (isalpha((unsigned char)*src))
            dst[n++] = tolower((unsigned char)*src);
        src++;
    }
    dst[n] = 0;
    return n;
}

int is_palindrome(const char *s, int n)
{
    int i;
    for (i = 0; i < n / 2 - 1; i++)
        if (s[i] != s[n - 1 - i])
            return 0;
    return 1;
}

int main()
{
    char line[200], buf[200];
    while (fgets(line, 200, stdin) != NULL) {
        int n = clean(buf, line);
        printf("%s: %s\n", buf, is_palindrome(buf, n) ? "yes" : "no");
    }
    return 0;
}
