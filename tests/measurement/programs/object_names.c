/* Names of communicators and windows, given before and after these are used, twice, by one process only, by another thread,
 * of every kind of text. run_names_case.py knows them. Two processes. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm threaded;

static void* name_it(void* unused) {
  MPI_Comm_set_name(threaded, "by the other thread");
  MPI_Barrier(threaded);
  return unused;
}

static MPI_Comm copy_of(MPI_Comm comm, const char* name) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  if (name != NULL) MPI_Comm_set_name(copy, name);
  return copy;
}

int main(int argc, char** argv) {
  int rank, level, *memory;
  MPI_Win field, unnamed;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) return fprintf(stderr, "no threads in MPI\n"), 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Comm halo = copy_of(MPI_COMM_WORLD, "  halo of blanks   ");
  MPI_Barrier(halo);
  MPI_Comm no_name = copy_of(halo, NULL); /* MPI copies no names */
  MPI_Barrier(no_name);
  MPI_Comm twice = copy_of(MPI_COMM_WORLD, "first");
  MPI_Barrier(twice);
  MPI_Comm_set_name(twice, "second");
  MPI_Barrier(twice);
  MPI_Comm_set_name(twice, "third");
  MPI_Barrier(twice);
  MPI_Comm taken = copy_of(MPI_COMM_WORLD, "taken away");
  MPI_Barrier(taken);
  MPI_Comm_set_name(taken, "");
  MPI_Barrier(taken);
  MPI_Comm one = copy_of(MPI_COMM_WORLD, rank == 1 ? "of rank 1" : NULL);
  MPI_Barrier(one);
  MPI_Comm differ = copy_of(MPI_COMM_WORLD, rank == 0 ? "lowest" : "higher");
  MPI_Barrier(differ);
  MPI_Comm odd = copy_of(MPI_COMM_WORLD, "tab\tline\nescape\033[31m \"quoted\" \\ end");
  MPI_Barrier(odd);
  char longest[MPI_MAX_OBJECT_NAME];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  MPI_Comm full = copy_of(MPI_COMM_WORLD, longest);
  MPI_Barrier(full);

  threaded = copy_of(MPI_COMM_WORLD, "by main");
  MPI_Barrier(threaded);
  pthread_t other;
  pthread_create(&other, NULL, name_it, NULL);
  pthread_join(other, NULL);

  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &field);
  MPI_Win_set_name(field, "field");
  MPI_Win_fence(0, field);
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &unnamed);
  MPI_Win_fence(0, unnamed);
  MPI_Win_free(&unnamed);
  MPI_Win_free(&field);

  /* Names of what is gone are gone: these live one after the other. */
  for (int i = 0; i < 3; ++i) {
    char name[16];
    snprintf(name, sizeof name, "loop %d", i);
    MPI_Comm loop = copy_of(MPI_COMM_WORLD, i == 1 ? NULL : name);
    MPI_Barrier(loop);
    MPI_Comm_free(&loop);
  }
  MPI_Comm all[] = {halo, no_name, twice, taken, one, differ, odd, full, threaded};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) MPI_Comm_free(&all[i]);
  MPI_Finalize();
  return 0;
}
