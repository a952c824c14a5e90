#include <stdio.h>
#include <string.h>

/* print the longest word of each line and the number of vowels in it */
int main(void)
{
   char line[256], best[256];
   char *w;
   unsigned i;
   int vowels;

   best[0] = '\0';
   while (fgets(line, sizeof(line), stdin)) {
      vowels = 0;
      for (w = strtok(line, " \t\n"); w != NULL; w = strtok(NULL, " \t\n")) {
         if (strlen(w) > strlen(best))
            strcpy(best, w);
      }
      for (i = 0; i < strlen(best); i++) {
         switch (best[i]) {
         case 'a': case 'e': case 'i': case 'o': case 'u':
            vowels++;
         }
      }
      printf("%s %d\n", best[0] ? best : "-", vowels);
   }
   return 0;
}
