#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_hot(int row) {
  return row >= kFirstHotRow && row <= kLastHotRow;
}

int row_cost(int row) {
  return is_hot(row) ? 150 : 1;
}

double* strip_row(double* rows, int row) {
  return rows + (size_t)row * kColumns;
}

Strip strip_create(int first, int count) {
  const size_t cells = (size_t)(count + 2) * kColumns;
  Strip strip = {first, count, calloc(cells, sizeof(double)), calloc(cells, sizeof(double))};
  if (strip.cells == NULL || strip.next == NULL) {
    fprintf(stderr, "no memory for %d rows\n", count);
    exit(1);
  }
  for (int row = 1; row <= count; ++row)
    for (int column = 0; column < kColumns; ++column)
      strip_row(strip.cells, row)[column] = (first + row) % 7 + column % 11;
  return strip;
}

void strip_free(Strip* strip) {
  free(strip->cells);
  free(strip->next);
}

/* Solves rate = 0.1 exp(-rate) temperature by Newton's method. */
static double reaction_rate(double temperature) {
  double rate = 0.1;
  for (int iteration = 0; iteration < 8; ++iteration) {
    const double right = 0.1 * exp(-rate) * temperature;
    rate -= (rate - right) / (1 + right);
  }
  return rate;
}

void strip_update(Strip* strip, int from, int to) {
  for (int row = from; row <= to; ++row) {
    const double* above = strip_row(strip->cells, row - 1);
    const double* here = strip_row(strip->cells, row);
    const double* below = strip_row(strip->cells, row + 1);
    double* next = strip_row(strip->next, row);
    const int hot = is_hot(strip->first + row - 1);
    for (int column = 0; column < kColumns; ++column) {
      const double left = column == 0 ? 0 : here[column - 1];
      const double right = column == kColumns - 1 ? 0 : here[column + 1];
      next[column] =
          here[column] + 0.2 * (above[column] + below[column] + left + right - 4 * here[column]);
      if (hot) next[column] += 0.01 * reaction_rate(here[column]);
    }
  }
}

void strip_advance(Strip* strip) {
  memcpy(strip_row(strip->cells, 1), strip_row(strip->next, 1),
         (size_t)strip->count * kColumns * sizeof(double));
}

long long strip_heat(const Strip* strip) {
  long long heat = 0;
  for (int row = 1; row <= strip->count; ++row)
    for (int column = 0; is_hot(strip->first + row - 1) && column < kColumns; ++column)
      heat += llround(1e6 * reaction_rate(strip_row(strip->cells, row)[column]));
  return heat;
}

long long strip_checksum(const Strip* strip) {
  long long sum = 0;
  for (int row = 1; row <= strip->count; ++row)
    for (int column = 0; column < kColumns; ++column)
      sum += llround(1e6 * strip_row(strip->cells, row)[column]);
  return sum;
}
