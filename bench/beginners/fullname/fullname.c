#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

/* "Smith, John" -> "John Smith"; names without comma stay as they are */
char *fullname(char *s)
{
    char *comma = strchr(s, ',');
    char buf[100];
    char *first;

    if (comma == NULL)
        return s;
    first = comma + 1;
    while (*first == ' ')
        first++;
    strcpy(buf, first);
    strcat(buf, " ");
    strncat(buf, s, comma - s);
    return buf;
}

int main(void)
{
    char line[100];
    int n = 0;

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        n++;
        printf("%3d. %s\n", n, fullname(line));
    }
    return 0;
}
