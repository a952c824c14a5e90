// function: middle
// check: overflow
// answer: fails 8
// The sum of two indices overflows.
void __VERIFIER_assume(int);
int middle(int low, int high)
{
    __VERIFIER_assume(0 <= low && low <= high); return (low + high) / 2;
}
