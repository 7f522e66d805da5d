/* The types of OpenSHMEM's functions, by its tables: X(NAME, TYPE) for each. */
#ifndef SMALL_TYPES_H
#define SMALL_TYPES_H

#define SMALL_INTEGERS(X)                                                                      \
  X(int, int)                                                                                  \
  X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)           \
      X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) \
          X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define SMALL_FLOATS(X) X(float, float) X(double, double)
#define SMALL_SHORTS(X) X(short, short) X(ushort, unsigned short)
#define SMALL_CHARS(X) X(char, char) X(schar, signed char) X(uchar, unsigned char)
#define SMALL_SIZED(X) X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)
#define SMALL_COMPLEX(X) X(complexf, float _Complex) X(complexd, double _Complex)

#define SMALL_STANDARD(X) \
  SMALL_INTEGERS(X)       \
  SMALL_FLOATS(X) X(longdouble, long double) SMALL_SHORTS(X) SMALL_CHARS(X) SMALL_SIZED(X)
#define SMALL_ATOMIC(X) SMALL_INTEGERS(X)
#define SMALL_ATOMIC_FLOATS(X) SMALL_FLOATS(X)
#define SMALL_ATOMIC_BITS(X)                                                                   \
  X(uint, unsigned int)                                                                        \
  X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) \
      X(uint32, uint32_t) X(uint64, uint64_t)
#define SMALL_WAIT(X) SMALL_INTEGERS(X) SMALL_SHORTS(X)
#define SMALL_TEAM_BITS(X)                                                                \
  X(uchar, unsigned char)                                                                 \
  X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)                 \
      X(ulonglong, unsigned long long) SMALL_SIZED(X) X(int32, int32_t) X(int64, int64_t) \
          X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)
#define SMALL_TEAM_SUMS(X) SMALL_COMPLEX(X)

/* Before version 1.4. */
#define SMALL_OLD_INTEGERS(X) X(int, int) X(long, long) X(longlong, long long)
#define SMALL_OLD_SHORT(X) X(short, short)
#define SMALL_OLD_FLOATS(X) X(float, float) X(double, double) X(longdouble, long double)

/* X(BITS, bytes) */
#define SMALL_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

#endif
