/* Reads before anything else which bodies a program executes. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int CHOSEN __attribute__((weak));

__attribute__((constructor(101))) static void __pw_choose(void)
{
    char text[16];
    int saved = errno, number = 0, file = open(NUMBER_FILE, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        long length = read(file, text, sizeof text);
        for (long at = 0; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            number = 10 * number + (text[at] - '0');
        close(file);
    }
    CHOSEN = number;
    errno = saved;
}
