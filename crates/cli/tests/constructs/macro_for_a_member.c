// Members that can only be written by a macro: `act.sa_handler` is `act.__sigaction_handler.sa_handler`.
// case 1 => ignored
// case 3 => ignored
// case 4 => ignored
// case 5 => handled
// case 9 => handled
// patch in: install
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void handle(int number)
{
    (void)number;
    puts("handled");
}

static int install(int level)
{
    struct sigaction act;
    sigemptyset(&act.sa_mask);
    act.sa_flags = 0;
    act.sa_handler = handle;
    if (level < 4)
        act.sa_handler = SIG_IGN;
    return sigaction(SIGUSR1, &act, NULL) == 0 && act.sa_handler == SIG_IGN;
}

int main(int argc, char **argv)
{
    if (argc > 1 && install(atoi(argv[1])))
        puts("ignored");
    raise(SIGUSR1);
    return 0;
}
