// answer: proved
// What stays in an empty loop never gets to the assertion: a way to write assumptions.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assert(int);

static void assumed(int condition)
{
    if (!condition) {
    stay:
        goto stay;
    }
}

int main(void)
{
    int x = __VERIFIER_nondet_int();
    assumed(x > 3);
    __VERIFIER_assert(x > 2);
    return 0;
}
