/* A plate that conducts heat, cut into strips of rows, one strip a process. In some of its rows a
 * reaction goes on, whose rate has to be solved for in every cell: these rows cost far more than
 * the others. */
#ifndef KOJAK_DEMO_GRID_H
#define KOJAK_DEMO_GRID_H

enum { kRows = 512, kColumns = 2048, kFirstHotRow = 136, kLastHotRow = 247 };

/* The rows of one process, with a ghost row above (row 0) and below (row count + 1), which hold the
 * neighbours' outermost rows. */
typedef struct {
  int first;     /* its first row in the whole plate */
  int count;     /* its number of rows */
  double* cells; /* (count + 2) x kColumns: the temperatures */
  double* next;  /* likewise: those of the next step */
} Strip;

/* How much work a row is, for whoever wants to share it out. */
int row_cost(int row);

Strip strip_create(int first, int count);
void strip_free(Strip* strip);
double* strip_row(double* rows, int row);

/* Computes the next step of the strip's rows from..to (1 is its first). Needs the rows around them.
 */
void strip_update(Strip* strip, int from, int to);
/* Makes the next step the present one. Ghost rows stay. */
void strip_advance(Strip* strip);
/* The heat that the reaction sets free in the present step, in units small enough to be added
 * exactly. */
long long strip_heat(const Strip* strip);
/* All temperatures added up, exactly: the same however the plate is cut. */
long long strip_checksum(const Strip* strip);

#endif
