/* Splits networks "A.B.C.D/P" into address, mask and range. */
#include <stdio.h>

typedef unsigned int u32;

static u32 mask_of(int prefix) {
  u32 mask = 0;
  for (int bit = 0; bit < prefix; bit++)
    mask |= 1u << (prefix - bit);
  return mask;
}

static void print_address(const char *what, u32 address) {
  printf("%s %u.%u.%u.%u\n", what, address >> 24, (address >> 16) & 255, (address >> 8) & 255,
         address & 255);
}

static u32 hosts(u32 mask) {
  u32 size = ~mask;
  if (size <= 1)
    return size + 1;
  return size - 1;
}

static int bits(u32 word) {
  int count = 0;
  while (word) {
    word &= word - 1;
    count++;
  }
  return count;
}

int main(void) {
  u32 a, b, c, d;
  int prefix;
  while (scanf("%u.%u.%u.%u/%d", &a, &b, &c, &d, &prefix) == 5) {
    if (a > 255 || b > 255 || c > 255 || d > 255 || prefix < 0 || prefix > 32) {
      puts("no network");
      continue;
    }
    u32 address = a << 24 | b << 16 | c << 8 | d;
    u32 mask = mask_of(prefix);
    u32 network = address & mask;
    u32 last = network | ~mask;
    print_address("network", network);
    print_address("last", last);
    printf("%d bits, %u hosts, parity %d\n", bits(mask), hosts(mask), bits(address) & 1);
  }
  return 0;
}
