/* What the C and the Fortran halves of the mixed programs call of each other. */
#ifndef KOJAK_TESTS_FORTRAN_MIXED_H
#define KOJAK_TESTS_FORTRAN_MIXED_H

#include <mpi.h>
#include <string.h>

/* notes.f90 */
void made_in_c(int length, const char *function);
void sent_in_c(int dest, int tag, int bytes);
void received_in_c(int source, int tag, int bytes);
void collective_in_c(int root, int bytes_sent, int bytes_received);
void result_in_c(int number);
#define MADE(function) made_in_c((int)strlen(#function), #function)

/* mixed_part.F90; the handle is Fortran's. */
void open_notes(int rank);
void close_notes(void);
void fortran_part(int rank, MPI_Fint comm);
/* mixed_part.c */
void c_part(int rank, MPI_Fint comm);

#endif
