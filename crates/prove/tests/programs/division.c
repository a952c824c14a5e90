// function: average
// answer: fails 6
// Nothing prevents an empty sum.
int average(int total, int count)
{
    return total / count;
}
