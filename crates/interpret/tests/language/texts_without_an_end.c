#define _GNU_SOURCE
/* What lies behind the first difference, or behind what was looked for, need not be there. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

int main(void)
{
    char *open = (char[]){'a', 'b', 'C', 'd'};
    const char other[3] = {'a', 'b', 'x'};
    const char set[2] = {'b', 'a'};
    printf("%d\n", (int)(strchr(open, 'C') - open));
    printf("%d\n", (int)(strchrnul(open, 'b') - open));
    printf("%d\n", strcmp(open, other) < 0);
    printf("%d\n", strncmp(open, other, 2));
    printf("%d\n", strcasecmp(open, "ABD") < 0);
    printf("%d\n", strncasecmp(open, "ABC", 3));
    printf("%d\n", (int)(strstr(open, "bC") - open));
    printf("%d %d\n", (int)strspn(open, "ab"), (int)strcspn(open, "xC"));
    printf("%d\n", (int)strcspn(open, set));
    printf("%d\n", (int)(strpbrk(open, "Cb") - open));
    printf("%d %d\n", strchr("text", 0)[0], strchr("text", 'y') == NULL);
    printf("%d %d\n", strpbrk("text", "yz") == NULL, strstr("text", "xy") == NULL);
    printf("%d %d\n", strstr("text", "") != NULL, strcmp("\xff", "a") > 0);
    return 0;
}
