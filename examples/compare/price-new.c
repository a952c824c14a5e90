/* The price of an amount with a discount in per cent, 50 at most. */
int price(int amount, signed char discount)
{
    if (discount > 60)
        discount = 50;
    return amount / 100 * (100 - discount);
}
