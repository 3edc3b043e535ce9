// The tile instructions of AMX as plain C, for machines without them: included before everything by -include. Tiles are checked
// as the CPU checks them: an instruction on tiles whose extents do not fit each other ends the program.
#ifndef AMX_EMULATED_H
#define AMX_EMULATED_H
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AMX_FUNCTION __attribute__((noinline, unused))

static _Thread_local struct {
    uint8_t configured, rows[8];
    uint16_t row_bytes[8];
    uint8_t bytes[8][16][64];
} amx;

static AMX_FUNCTION void amx_require(int ok) {
    if (!ok) abort();
}
static AMX_FUNCTION void amx_loadconfig(const void *config) {
    const uint8_t *c = config;
    amx_require(c[0] == 1 && c[1] == 0);
    memset(&amx, 0, sizeof amx);
    amx.configured = 1;
    memcpy(amx.row_bytes, c + 16, sizeof amx.row_bytes);
    memcpy(amx.rows, c + 48, sizeof amx.rows);
    for (int t = 0; t < 8; t++) amx_require(amx.rows[t] <= 16 && amx.row_bytes[t] <= 64 && !c[56 + t] && !c[32 + t]);
}
static AMX_FUNCTION void amx_release(void) { amx.configured = 0; }
static AMX_FUNCTION void amx_zero(int t) {
    amx_require(amx.configured && amx.rows[t]);
    memset(amx.bytes[t], 0, sizeof amx.bytes[t]);
}
static AMX_FUNCTION void amx_loadd(int t, const void *base, size_t stride) {
    amx_zero(t);
    for (int r = 0; r < amx.rows[t]; r++) memcpy(amx.bytes[t][r], (const uint8_t *)base + (size_t)r * stride, amx.row_bytes[t]);
}
static AMX_FUNCTION void amx_stored(int t, void *base, size_t stride) {
    amx_require(amx.configured && amx.rows[t]);
    for (int r = 0; r < amx.rows[t]; r++) memcpy((uint8_t *)base + (size_t)r * stride, amx.bytes[t][r], amx.row_bytes[t]);
}
// c[m][n] += the sum over k of four signed bytes of a[m][k] times four unsigned bytes of b[k][n]
static AMX_FUNCTION void amx_dpbsud(int c, int a, int b) {
    amx_require(amx.configured && amx.rows[c] == amx.rows[a] && amx.row_bytes[a] == 4 * amx.rows[b] &&
                amx.row_bytes[c] == amx.row_bytes[b]);
    for (int m = 0; m < amx.rows[c]; m++)
        for (int n = 0; n < amx.row_bytes[c] / 4; n++) {
            int32_t sum;
            memcpy(&sum, &amx.bytes[c][m][4 * n], 4);
            for (int k = 0; k < amx.row_bytes[a]; k++) sum += (int8_t)amx.bytes[a][m][k] * amx.bytes[b][k / 4][4 * n + k % 4];
            memcpy(&amx.bytes[c][m][4 * n], &sum, 4);
        }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbsud
#define _tile_loadconfig amx_loadconfig
#define _tile_release    amx_release
#define _tile_zero       amx_zero
#define _tile_loadd      amx_loadd
#define _tile_stored     amx_stored
#define _tile_dpbsud     amx_dpbsud
#endif
