// answer: bounded
// A loop that nothing leaves is followed as far as the bound, though no condition of it depends on inputs.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assert(int);

int main(void)
{
    int last = 0;
    while (1) {
        int next = __VERIFIER_nondet_int();
        if (next > last)
            last = next;
        __VERIFIER_assert(last >= 0);
    }
}
