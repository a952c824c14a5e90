/* Functions of the C library, for the bounded encoding. Each is weak, so that a program's own
   definition takes precedence. They do what the standard says, byte by byte; a loop ends where the
   object that it reads does. */

typedef __SIZE_TYPE__ size_t;
#define WEAK __attribute__((weak))
#define NULL ((void *)0)
#define ERANGE 34
#define EINVAL 22

int *__errno_location(void);
/* Whether two pointers lead into the same object. */
int __CPROVER_same_object(const void *, const void *);
int __CPROVER_rw_ok(const void *, size_t);
/* So many bytes that are read must not be among those that are written. */
void __patchwright_apart(const void *to, const void *from, size_t n);
#define APART(to, from, n) do \
    if (__CPROVER_same_object(to, from)) __patchwright_apart(to, from, n); while (0)

WEAK size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

WEAK size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n])
        n++;
    return n;
}

WEAK int strcmp(const char *a, const char *b)
{
    size_t i = 0;
    for (;;) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x - y;
        if (!x)
            return 0;
        i++;
    }
}

WEAK int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x - y;
        if (!x)
            return 0;
    }
    return 0;
}

WEAK int tolower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

WEAK int toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c;
}

WEAK int strcasecmp(const char *a, const char *b)
{
    size_t i = 0;
    for (;;) {
        int x = tolower((unsigned char)a[i]), y = tolower((unsigned char)b[i]);
        if (x != y)
            return x - y;
        if (!x)
            return 0;
        i++;
    }
}

WEAK int strncasecmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int x = tolower((unsigned char)a[i]), y = tolower((unsigned char)b[i]);
        if (x != y)
            return x - y;
        if (!x)
            return 0;
    }
    return 0;
}

WEAK char *strcpy(char *to, const char *from)
{
    size_t i = 0;
    APART(to, from, strlen(from) + 1);
    while ((to[i] = from[i]))
        i++;
    return to;
}

WEAK char *stpcpy(char *to, const char *from)
{
    APART(to, from, strlen(from) + 1);
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}

WEAK char *strncpy(char *to, const char *from, size_t n)
{
    size_t i = 0;
    APART(to, from, n);
    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

WEAK char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}

WEAK char *strncat(char *to, const char *from, size_t n)
{
    size_t end = strlen(to), i = 0;
    APART(to + end, from, strnlen(from, n) + 1);
    for (; i < n && from[i]; i++)
        to[end + i] = from[i];
    to[end + i] = 0;
    return to;
}

WEAK char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

WEAK char *index(const char *s, int c)
{
    return strchr(s, c);
}

WEAK char *strchrnul(const char *s, int c)
{
    while (*s && *s != (char)c)
        s++;
    return (char *)s;
}

WEAK char *strrchr(const char *s, int c)
{
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)found;
    }
}

WEAK char *rindex(const char *s, int c)
{
    return strrchr(s, c);
}

WEAK char *strstr(const char *s, const char *what)
{
    for (;; s++) {
        size_t i = 0;
        while (what[i] && s[i] == what[i])
            i++;
        if (!what[i])
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

WEAK size_t strspn(const char *s, const char *accept)
{
    size_t n = 0;
    while (s[n]) {
        size_t i = 0;
        while (accept[i] && accept[i] != s[n])
            i++;
        if (!accept[i])
            break;
        n++;
    }
    return n;
}

WEAK size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;
    while (s[n]) {
        size_t i = 0;
        while (reject[i] && reject[i] != s[n])
            i++;
        if (reject[i])
            break;
        n++;
    }
    return n;
}

WEAK char *strpbrk(const char *s, const char *accept)
{
    s += strcspn(s, accept);
    return *s ? (char *)s : NULL;
}

WEAK char *strtok(char *s, const char *separators)
{
    static char *rest;
    if (!s)
        s = rest;
    if (!s)
        return NULL;
    s += strspn(s, separators);
    if (!*s) {
        rest = NULL;
        return NULL;
    }
    char *end = s + strcspn(s, separators);
    if (*end) {
        *end = 0;
        rest = end + 1;
    } else
        rest = NULL;
    return s;
}

WEAK void *memcpy(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    for (size_t i = 0; i < n; i++)
        t[i] = f[i];
    return to;
}

WEAK void *memmove(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    if (!__CPROVER_same_object(t, f) || t < f)
        for (size_t i = 0; i < n; i++)
            t[i] = f[i];
    else
        for (size_t i = n; i > 0; i--)
            t[i - 1] = f[i - 1];
    return to;
}

WEAK void *memset(void *to, int c, size_t n)
{
    char *t = to;
    for (size_t i = 0; i < n; i++)
        t[i] = (char)c;
    return to;
}

WEAK void bzero(void *to, size_t n)
{
    memset(to, 0, n);
}

WEAK int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

WEAK void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++)
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    return NULL;
}

void *malloc(size_t);

WEAK char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

WEAK char *strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = 0;
    }
    return copy;
}

WEAK void *mempcpy(void *to, const void *from, size_t n)
{
    return (char *)memcpy(to, from, n) + n;
}

WEAK void *memccpy(void *to, const void *from, int c, size_t n)
{
    char *t = to;
    const char *f = from;
    APART(to, from, n);
    for (size_t i = 0; i < n; i++)
        if ((t[i] = f[i]) == (char)c)
            return t + i + 1;
    return NULL;
}

WEAK void *memrchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;
    while (n > 0)
        if (p[--n] == (unsigned char)c)
            return (void *)(p + n);
    return NULL;
}

WEAK int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
WEAK void bcopy(const void *from, void *to, size_t n) { memmove(to, from, n); }
WEAK void explicit_bzero(void *to, size_t n) { memset(to, 0, n); }
WEAK int strcoll(const char *a, const char *b) { return strcmp(a, b); }

WEAK char *strsep(char **at, const char *separators)
{
    char *s = *at;
    if (!s)
        return NULL;
    char *end = s + strcspn(s, separators);
    if (*end) {
        *end = 0;
        *at = end + 1;
    } else
        *at = NULL;
    return s;
}

WEAK char *strtok_r(char *s, const char *separators, char **rest)
{
    if (!s)
        s = *rest;
    if (!s)
        return NULL;
    s += strspn(s, separators);
    if (!*s) {
        *rest = NULL;
        return NULL;
    }
    char *end = s + strcspn(s, separators);
    if (*end) {
        *end = 0;
        *rest = end + 1;
    } else
        *rest = NULL;
    return s;
}

WEAK int isdigit(int c) { return c >= '0' && c <= '9'; }
WEAK int islower(int c) { return c >= 'a' && c <= 'z'; }
WEAK int isupper(int c) { return c >= 'A' && c <= 'Z'; }
WEAK int isalpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
WEAK int isalnum(int c) { return isalpha(c) || isdigit(c); }
WEAK int isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
WEAK int isblank(int c) { return c == ' ' || c == '\t'; }
WEAK int isprint(int c) { return c >= 32 && c < 127; }
WEAK int isgraph(int c) { return c > 32 && c < 127; }
WEAK int iscntrl(int c) { return (c >= 0 && c < 32) || c == 127; }
WEAK int ispunct(int c) { return isgraph(c) && !isalnum(c); }
WEAK int isxdigit(int c) { return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
WEAK int toascii(int c) { return c & 127; }
WEAK int isascii(int c) { return c >= 0 && c < 128; }

/* What the macros of <ctype.h> look up: classes of characters in the "C" locale, -128 to 255. */
static const unsigned short classes[384] = {
    [128] =
    0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002,
    0x0002, 0x2003, 0x2002, 0x2002, 0x2002, 0x2002, 0x0002, 0x0002,
    0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002,
    0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002, 0x0002,
    0x6001, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004,
    0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004,
    0xd808, 0xd808, 0xd808, 0xd808, 0xd808, 0xd808, 0xd808, 0xd808,
    0xd808, 0xd808, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004,
    0xc004, 0xd508, 0xd508, 0xd508, 0xd508, 0xd508, 0xd508, 0xc508,
    0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508,
    0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508, 0xc508,
    0xc508, 0xc508, 0xc508, 0xc004, 0xc004, 0xc004, 0xc004, 0xc004,
    0xc004, 0xd608, 0xd608, 0xd608, 0xd608, 0xd608, 0xd608, 0xc608,
    0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608,
    0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608, 0xc608,
    0xc608, 0xc608, 0xc608, 0xc004, 0xc004, 0xc004, 0xc004, 0x0002,
};

WEAK const unsigned short **__ctype_b_loc(void)
{
    static const unsigned short *middle = classes + 128;
    return &middle;
}

/* What is negative, but for -1, is the character that it would be without a sign. */
static int lower[384], upper[384];

WEAK const int **__ctype_tolower_loc(void)
{
    static const int *middle = lower + 128;
    for (int c = -128; c < 256; c++)
        lower[c + 128] = c < -1 ? c + 256 : tolower(c);
    return &middle;
}

WEAK const int **__ctype_toupper_loc(void)
{
    static const int *middle = upper + 128;
    for (int c = -128; c < 256; c++)
        upper[c + 128] = c < -1 ? c + 256 : toupper(c);
    return &middle;
}

typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
WEAK div_t div(int a, int b) { div_t r = {a / b, a % b}; return r; }
WEAK ldiv_t ldiv(long a, long b) { ldiv_t r = {a / b, a % b}; return r; }
WEAK lldiv_t lldiv(long long a, long long b) { lldiv_t r = {a / b, a % b}; return r; }

WEAK unsigned short htons(unsigned short n) { return (unsigned short)(n << 8 | n >> 8); }
WEAK unsigned short ntohs(unsigned short n) { return htons(n); }
WEAK unsigned htonl(unsigned n)
{
    return n << 24 | (n & 0xff00) << 8 | (n >> 8 & 0xff00) | n >> 24;
}
WEAK unsigned ntohl(unsigned n) { return htonl(n); }

WEAK long imaxabs(long n) { return n < 0 ? -n : n; }
WEAK int abs(int n) { return n < 0 ? -n : n; }
WEAK long labs(long n) { return n < 0 ? -n : n; }
WEAK long long llabs(long long n) { return n < 0 ? -n : n; }

/* The number at the beginning of a text without its sign; one that is too large sets `over`. */
static unsigned long digits(const char *text, char **end, int base, unsigned long limit,
                            int *negative, int *over)
{
    const char *s = text;
    int any = 0;
    unsigned long value = 0;
    *negative = *over = 0;
    if (base < 0 || base == 1 || base > 36) {
        *__errno_location() = EINVAL;
        return 0;
    }
    while (isspace((unsigned char)*s))
        s++;
    if (*s == '-' || *s == '+')
        *negative = *s++ == '-';
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')
        && isxdigit((unsigned char)s[2])) {
        s += 2;
        base = 16;
    } else if (base == 0)
        base = *s == '0' ? 8 : 10;
    limit += limit + 1 && *negative;
    for (;; s++) {
        int c = (unsigned char)*s, digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if (c >= 'a' && c <= 'z')
            digit = c - 'a' + 10;
        else if (c >= 'A' && c <= 'Z')
            digit = c - 'A' + 10;
        else
            break;
        if (digit >= base)
            break;
        any = 1;
        if (*over || value > (limit - (unsigned long)digit) / (unsigned long)base)
            *over = 1;
        else
            value = value * (unsigned long)base + (unsigned long)digit;
    }
    if (*over) {
        value = limit;
        *__errno_location() = ERANGE;
    }
    if (end)
        *end = (char *)(any ? s : text);
    return value;
}

WEAK long strtol(const char *text, char **end, int base)
{
    int negative, over;
    unsigned long value = digits(text, end, base, ~0ul >> 1, &negative, &over);
    return negative ? (long)(0 - value) : (long)value;
}

WEAK long long strtoll(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

WEAK unsigned long strtoul(const char *text, char **end, int base)
{
    int negative, over;
    unsigned long value = digits(text, end, base, ~0ul, &negative, &over);
    return negative && !over ? 0 - value : value;
}

WEAK unsigned long long strtoull(const char *text, char **end, int base)
{
    return strtoul(text, end, base);
}

WEAK long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
WEAK long long __isoc23_strtoll(const char *text, char **end, int base) { return strtol(text, end, base); }
WEAK unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
WEAK unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoul(text, end, base); }

WEAK long long atoll(const char *text)
{
    return strtol(text, NULL, 10);
}

WEAK int atoi(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

WEAK long atol(const char *text)
{
    return strtol(text, NULL, 10);
}

WEAK void *bsearch(const void *key, const void *base, size_t count, size_t size,
                   int (*compare)(const void *, const void *))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (order == 0)
            return (void *)at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Stable, as glibc's mostly is. */
WEAK void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *all = base;
    if (count && size && !__CPROVER_rw_ok(all, count * size))
        all[count * size - 1] = all[count * size - 1];
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && compare(all + (j - 1) * size, all + j * size) > 0; j--)
            for (size_t k = 0; k < size; k++) {
                char byte = all[(j - 1) * size + k];
                all[(j - 1) * size + k] = all[j * size + k];
                all[j * size + k] = byte;
            }
}

/* From here on a double has no fraction. */
#define WHOLE 4503599627370496.0

WEAK double trunc(double x)
{
    if (!(x > -WHOLE && x < WHOLE))
        return x;
    double t = (double)(long)x;
    return t == 0 && (x < 0 || 1 / x < 0) ? -0.0 : t;
}

WEAK double floor(double x)
{
    double t = trunc(x);
    return t > x ? t - 1 : t;
}

WEAK double ceil(double x)
{
    double t = trunc(x);
    return t < x ? t + 1 : t;
}

/* Halves away from zero. */
WEAK double round(double x)
{
    double t = trunc(x), rest = x - t;
    return rest >= 0.5 ? t + 1 : rest <= -0.5 ? t - 1 : t;
}

/* Halves to the even neighbour. */
WEAK double rint(double x)
{
    double t = trunc(x), rest = x - t;
    if (!(x > -WHOLE && x < WHOLE))
        return x;
    int odd = (long)t & 1;
    return rest > 0.5 || (rest == 0.5 && odd) ? t + 1
           : rest < -0.5 || (rest == -0.5 && odd) ? t - 1 : t;
}

WEAK double nearbyint(double x) { return rint(x); }

/* What does not fit becomes the least long, as on the processor. */
static long whole_as_long(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (long)x
           : -9223372036854775807L - 1;
}

WEAK long lround(double x) { return whole_as_long(round(x)); }
WEAK long lrint(double x) { return whole_as_long(rint(x)); }
WEAK long long llround(double x) { return lround(x); }
WEAK long long llrint(double x) { return lrint(x); }
WEAK long lroundf(float x) { return lround(x); }
WEAK long lrintf(float x) { return lrint(x); }
WEAK long long llroundf(float x) { return lround(x); }
WEAK long long llrintf(float x) { return lrint(x); }
WEAK float truncf(float x) { return (float)trunc(x); }
WEAK float floorf(float x) { return (float)floor(x); }
WEAK float ceilf(float x) { return (float)ceil(x); }
WEAK float roundf(float x) { return (float)round(x); }
WEAK float rintf(float x) { return (float)rint(x); }
WEAK float nearbyintf(float x) { return (float)rint(x); }

/* Of 0 and -0 the second. */
WEAK double fmax(double a, double b)
{
    return a != a ? b : b != b ? a : a > b ? a : b;
}

WEAK double fmin(double a, double b)
{
    return a != a ? b : b != b ? a : a < b ? a : b;
}

WEAK float fmaxf(float a, float b) { return (float)fmax(a, b); }
WEAK float fminf(float a, float b) { return (float)fmin(a, b); }

WEAK double fdim(double a, double b)
{
    const double most = 0x1.fffffffffffffp1023;
    double x = a <= b ? 0 : a - b;
    if (x > most && a <= most && b >= -most)
        *__errno_location() = ERANGE;
    return x;
}

WEAK float fdimf(float a, float b)
{
    const float most = 0x1.fffffep127f;
    float x = a <= b ? 0 : a - b;
    if (x > most && a <= most && b >= -most)
        *__errno_location() = ERANGE;
    return x;
}

WEAK double copysign(double a, double b)
{
    union { double f; unsigned long bits; } x = {a}, y = {b};
    x.bits = (x.bits << 1 >> 1) | (y.bits >> 63 << 63);
    return x.f;
}

WEAK float copysignf(float a, float b)
{
    union { float f; unsigned bits; } x = {a}, y = {b};
    x.bits = (x.bits << 1 >> 1) | (y.bits >> 31 << 31);
    return x.f;
}

WEAK double modf(double x, double *whole)
{
    double t = trunc(x);
    *whole = t;
    return copysign(x - t == x - t ? x - t : x == x ? 0 : x, x);
}

WEAK float modff(float x, float *whole)
{
    double t;
    float rest = (float)modf(x, &t);
    *whole = (float)t;
    return rest;
}

WEAK double frexp(double x, int *exponent)
{
    union { double f; unsigned long bits; } u = {x};
    int e = (int)(u.bits >> 52 & 0x7ff);
    *exponent = 0;
    if (x == 0 || e == 0x7ff)
        return x;
    if (e == 0) {
        u.f = x * 18014398509481984.0;
        e = (int)(u.bits >> 52 & 0x7ff) - 54;
    }
    *exponent = e - 1022;
    u.bits = (u.bits & ~(0x7fful << 52)) | 1022ul << 52;
    return u.f;
}
