/* Prints the indexes of all tracks of the cue sheet on standard input, those that there are. */
#include <stdio.h>

#include "../libcue.h"

int main(void) {
  Cd *cd = cue_parse_file(stdin);
  if (!cd) {
    puts("no cue sheet");
    return 1;
  }
  for (int i = 1; i <= cd_get_ntrack(cd); i++) {
    Track *track = cd_get_track(cd, i);
    printf("track %d from %ld:", i, track_get_start(track));
    for (int index = 0; index <= 99; index++)
      if (track_get_index(track, index) > 0)
        printf(" %d=%ld", index, track_get_index(track, index));
    putchar('\n');
  }
  cd_delete(cd);
  return 0;
}
