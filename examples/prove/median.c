/* The middle one of three numbers. */
int median(int a, int b, int c)
{
    if (a > b) {
        int t = a;
        a = b;
        b = t;
    }
    if (b < c)
        return b;
    return a > c ? c : a;
}
