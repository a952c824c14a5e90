/* Puts the arguments and the environment of a program where a sanitizer sees what is read beside them: each text, and the list of the
   environment, in memory of its own with poison round it. The list of the arguments stays, with poison in its front and behind it, where
   the list of the environment was. Only the GNU library hands them to constructors. */
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
/* Bytes of poison on each side. */
#define BESIDE 1024

extern void __asan_poison_memory_region(void const volatile *, size_t) __attribute__((weak));

/* One for all objects of the program. */
__attribute__((weak)) int __pw_texts_are_apart;

extern char **environ;

static void poison(void const volatile *begin, size_t size)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(begin, size);
}

/* A copy of some bytes in memory of their own; the bytes themselves if there is no memory. */
static void *apart(void *bytes, size_t size)
{
    char *block = malloc(size + 2 * BESIDE);
    if (!block)
        return bytes;
    poison(block, BESIDE);
    poison(block + BESIDE + size, BESIDE);
    return memcpy(block + BESIDE, bytes, size);
}

static void put_apart(char **texts)
{
    for (; *texts; texts++)
        *texts = apart(*texts, strlen(*texts) + 1);
}

/* The library reads the list by this pointer, and hands it to main. */
static void put_list_apart(char **list)
{
    size_t size = 0;
    while (list[size++])
        ;
    size *= sizeof *list;
    char **copy = apart(list, size);
    if (copy == list || environ != list)
        return;
    environ = copy;
    poison(list, size);
}

__attribute__((constructor)) static void put_all_apart(int count, char **arguments, char **environment)
{
    (void)count;
    if (__pw_texts_are_apart++)
        return;
    put_apart(arguments);
    put_apart(environment);
    poison(arguments - 1, sizeof *arguments);
    put_list_apart(environment);
}
#endif
