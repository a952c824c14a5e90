/* What sscanf gives, assigns and has read where the input ends, or is not what the format says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *inputs[] = {
    "", " ", "\n\t ", "+", "-", " +", "+-", "+x", "-x", "x", "0", "0x", "0X", "0xg", "-0x", "+0x1f", "0x1f", "08", "0779", "12", " 12 ", "12x", "12 34", "-12",
    "-1", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "-18446744073709551616", "99999999999999999999999999", "%", " %", "%5", "a", "ab", "abc", "abc def", "]", "]-a", "-", "^a", "m-z", "5,6", "5 ,6", "5, 6", "5%6", "5 % 6"};

static const char *numbers[] = {"%d", "%i", "%u", "%x", "%X", "%o", "%1d", "%2d", "%3d", "%1i", "%2i", "%3i", "%1x", "%2x", "%3x", "%4x", "%2o",
    " %d", "x%d", "%%%d", " %% %d", "%*d%d", "%*x%d", "%*i %d", "%*c%d", "%*s%d", "%*[0-9]%d", "%*d,%d", "%*d ,%d", "%*d%%%d", "%*d %% %d", "+%d"};
static const char *longs[] = {"%ld", "%lu", "%lx", "%lo", "%li", "%lld", "%llu", "%jd", "%zu", "%Ld", "%qd"};
static const char *smalls[] = {"%hd", "%hu", "%hx", "%hi"};
static const char *tinies[] = {"%hhd", "%hhu", "%hhx"};
static const char *texts[] = {"%s", "%1s", "%2s", "%c", "%2c", "%3c", " %c", "%[a-z]", "%[^a]", "%2[a-z]", "%[]-]", "%[]a-c]", "%[^]]", "%[z-a]", "%[a-c-e]", "%[-a]", "%[a-]", "%[+-]", "%[0-9x]", "%*2c%s", "x%c", "%*d%c", "%*d%s", "%*d%[ ]"};
#define EACH(list) for (unsigned k = 0; k < sizeof list / sizeof *list; k++)

int main(void)
{
    for (unsigned i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const char *input = inputs[i];
        printf("[%s]\n", input);
        EACH(numbers) {
            char format[32];
            int value = -7, read = -1;
            snprintf(format, sizeof format, "%s%%n", numbers[k]);
            errno = 0;
            int found = sscanf(input, format, &value, &read);
            /* Where the input has ended, glibc gives errno its earlier value. */
            printf("%s %d %d %d %d\n", format, found, value, read, found > 0 ? errno : 0);
        }
        EACH(longs) {
            long value = -7;
            errno = 0;
            int found = sscanf(input, longs[k], &value);
            printf("%s %d %ld %d\n", longs[k], found, value, errno);
        }
        EACH(smalls) {
            short value = -7;
            int found = sscanf(input, smalls[k], &value);
            printf("%s %d %d\n", smalls[k], found, value);
        }
        EACH(tinies) {
            signed char value = -7;
            int found = sscanf(input, tinies[k], &value);
            printf("%s %d %d\n", tinies[k], found, value);
        }
        EACH(texts) {
            char text[40], format[32];
            int read = -1;
            memset(text, 0, sizeof text);
            strcpy(text, "????");
            snprintf(format, sizeof format, "%s%%n", texts[k]);
            int found = sscanf(input, format, text, &read);
            printf("%s %d %s %d\n", format, found, text, read);
        }
        int read = -1, a = -7, b = -7, c = -7;
        printf("%d", sscanf(input, "%n", &read));
        printf(" %d", read);
        printf(" %d", sscanf(input, " %n", &read));
        printf(" %d", read);
        printf(" %d", sscanf(input, " "));
        printf(" %d", sscanf(input, ""));
        printf(" %d", sscanf(input, "%*d"));
        printf(" %d", sscanf(input, "%%"));
        printf(" %d", sscanf(input, "x"));
        printf(" %d", sscanf(input, "%d%d%d", &a, &b, &c));
        printf(" %d %d %d\n", a, b, c);
    }
    return 0;
}
