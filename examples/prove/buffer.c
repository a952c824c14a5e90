/* Bytes are put into a table; one index too many is let through. */
#define SIZE 4

static unsigned char table[SIZE];

int put(unsigned at, unsigned char byte)
{
    if (at > SIZE)
        return 0;
    table[at] = byte;
    return 1;
}
