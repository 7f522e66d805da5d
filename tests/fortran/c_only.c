/* A C program: prints which Fortran libraries it has, which must be none, recorded or not. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char line[4096];
  FILE *maps;
  int recorded = 0;
  MPI_Init(&argc, &argv);
  maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 1;
  while (fgets(line, sizeof line, maps) != NULL) {
    const char *name = strrchr(line, '/');
    if (name == NULL || strstr(name, ".so") == NULL) continue;
    if (strstr(name, "fort") || strstr(name, "mpifh") || strstr(name, "usempi")) printf("%s", line);
    if (strstr(name, "libelg_mpi")) recorded = 1;
  }
  fclose(maps);
  printf("%s\n", recorded ? "with the measurement library" : "alone");
  MPI_Finalize();
  return 0;
}
