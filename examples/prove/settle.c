/* Raises a level to 10. From 7 it falls back to 6, and so it never gets there. */

int settle(int level)
{
    while (level < 10) {
        if (level == 7)
            level = 5;
        level++;
    }
    return level;
}
