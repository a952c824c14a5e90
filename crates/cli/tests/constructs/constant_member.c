// A structure with a member that cannot be assigned to, in a source that does not know memset.
// case 1 => 2
// case 2 => 3
// patch in: use
#include <stdio.h>
#include <stdlib.h>

struct device {
  int number;
  const int base;
};

static int use(struct device *device)
{
  return device->number - device->base;
}

int main(int argc, char **argv)
{
  struct device device = {0, 1};
  if (argc < 2)
    return 2;
  device.number = atoi(argv[1]);
  printf("%d\n", use(&device));
  return 0;
}
