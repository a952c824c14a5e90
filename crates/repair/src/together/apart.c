/* Puts the arguments and the environment of a program where a sanitizer sees what is read beside them: each text in memory of its own, with
   poison round it. Only the GNU library hands them to constructors. */
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
/* Bytes of poison on each side. */
#define BESIDE 1024

extern void __asan_poison_memory_region(void const volatile *, size_t) __attribute__((weak));

/* One for all objects of the program. */
__attribute__((weak)) int __pw_texts_are_apart;

static void put_apart(char **texts)
{
    for (; *texts; texts++) {
        size_t size = strlen(*texts) + 1;
        char *block = malloc(size + 2 * BESIDE);
        if (!block)
            return;
        *texts = memcpy(block + BESIDE, *texts, size);
        if (__asan_poison_memory_region) {
            __asan_poison_memory_region(block, BESIDE);
            __asan_poison_memory_region(block + BESIDE + size, BESIDE);
        }
    }
}

__attribute__((constructor)) static void put_all_apart(int count, char **arguments, char **environment)
{
    (void)count;
    if (__pw_texts_are_apart++)
        return;
    put_apart(arguments);
    put_apart(environment);
}
#endif
