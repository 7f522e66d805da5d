// Functions of floor_entries.cc (chain.h), for who must have their addresses.
#pragma once

#define KOJAK_FLOOR extern "C" __attribute__((visibility("default"), used))

KOJAK_FLOOR void kojak_floor_shmem_init() __asm__("pshmem_init");
KOJAK_FLOOR int kojak_floor_shmem_init_thread(int requested,
                                              int* provided) __asm__("pshmem_init_thread");
KOJAK_FLOOR void kojak_floor_shmem_finalize() __asm__("pshmem_finalize");
