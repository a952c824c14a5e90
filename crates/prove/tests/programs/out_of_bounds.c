// function: put
// answer: fails 8
// repair 2 1: i < 8
// The bound of the index is one too high.
static int table[8];

int put(unsigned i)
{ if (i <= 8) table[i] = 1;
    return 0;
}
