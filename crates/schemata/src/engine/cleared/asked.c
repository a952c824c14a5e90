/* Where it is asked to, a program uses what nobody has written before it does anything else: so it is known that what happens is
 * reported, and that the report is found. */
#include <stdlib.h>

__attribute__((constructor)) static void __pw_use_unwritten(void)
{
    if (getenv(ASKED)) {
        int *fresh = malloc(sizeof *fresh);
        if (fresh && *fresh)
            abort();
        free(fresh);
    }
}
