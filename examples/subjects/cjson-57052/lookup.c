/* usage: lookup POINTER
 * Prints what the JSON pointer finds in {"a":[0,...,59],"b":[[1,2],[3]],"c":{"1A":7}}: a number, "array",
 * "object" or "null" for nothing. */
#include <stdio.h>
#include <string.h>

#include "cJSON.h"
#include "cJSON_Utils.h"

int main(int argc, char **argv) {
  char text[1024] = "{\"a\":[0";
  size_t used = strlen(text);
  int i;
  cJSON *document;
  const cJSON *found;

  if (argc != 2) {
    fputs("usage: lookup POINTER\n", stderr);
    return 2;
  }
  for (i = 1; i < 60; i++) {
    used += (size_t)sprintf(text + used, ",%d", i);
  }
  strcpy(text + used, "],\"b\":[[1,2],[3]],\"c\":{\"1A\":7}}");
  document = cJSON_Parse(text);
  if (document == NULL) {
    fputs("lookup: the document cannot be parsed\n", stderr);
    return 2;
  }
  found = cJSONUtils_GetPointerCaseSensitive(document, argv[1]);
  if (found == NULL) {
    puts("null");
  } else if (cJSON_IsNumber(found)) {
    printf("%d\n", found->valueint);
  } else {
    puts(cJSON_IsArray(found) ? "array" : "object");
  }
  cJSON_Delete(document);
  return 0;
}
