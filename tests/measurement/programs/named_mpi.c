/* An MPI library that gives itself another name: OTHER_NAME. Preloaded in front of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char* version, int* length);
int PMPI_Get_library_version(char* version, int* length) {
  const char* const name = getenv("OTHER_NAME");
  snprintf(version, 200, "%s", name != NULL ? name : "");
  *length = (int)strlen(version);
  return 0;
}
