// SHA-256 of FIPS 180-4, of bytes in memory.
#ifndef BURIN_SHA256_H
#define BURIN_SHA256_H
#include <stddef.h>
#include <stdint.h>

void sha256(const void *data, size_t bytes, uint8_t digest[32]);
#endif
