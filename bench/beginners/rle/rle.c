#include <stdio.h>
#include <string.h>

void encode(const char *s, char *out)
{
    int count = 1;

    *out = '\0';
    while (*s) {
        if (s[1] == s[0]) {
            count++;
        } else {
            if (count > 1)
                out += sprintf(out, "%d", count);
            *out++ = *s;
            *out = '\0';
        }
        s++;
    }
}

int main(void)
{
    char in[128], out[400];

    while (scanf("%127s", in) == 1) {
        encode(in, out);
        printf("%s -> %s (%d%%)\n", in, out, (int)(100 * strlen(out) / strlen(in)));
    }
    return 0;
}
