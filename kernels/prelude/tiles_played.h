/* tiles_played.h: the tile registers of AMX in plain C, for machines without them (KW_TILES=played); tiles.h says what each word means. What
 * the processor would end the process for (a tile that no configuration gave a size, operands that do not go together, a palette that
 * there is not) makes all that is stored from then on a pattern that no check takes for a result. */
typedef struct kw_played_tiles {
    int bad;
    unsigned char palette, rows[8];
    kw_u16 bytes[8];
    char data[8][16][64] __attribute__((aligned(64)));
} kw_played_tiles;

static __thread kw_played_tiles kw_played;

static __attribute__((noinline)) void kw_played_begin(const void *sizes) {
    const unsigned char *from = sizes;
    kw_played_tiles *t = &kw_played;
    __builtin_memset(t, 0, sizeof *t);
    t->palette = from[0];
    t->bad = from[0] != 1 || from[1] != 0;
    for (int i = 2; i < 16; i++)
        t->bad |= from[i] != 0;
    for (int i = 0; i < 16; i++) {
        kw_u32 bytes = from[16 + 2 * i] | (kw_u32)from[17 + 2 * i] << 8, rows = from[48 + i];
        t->bad |= bytes > 64 || rows > 16 || (bytes == 0) != (rows == 0) || (i >= 8 && rows);
        if (i < 8) t->bytes[i] = (kw_u16)bytes, t->rows[i] = (unsigned char)rows;
    }
}

static __attribute__((noinline)) void kw_played_zero(int n) {
    kw_played.bad |= !kw_played.rows[n];
    __builtin_memset(kw_played.data[n], 0, sizeof kw_played.data[n]);
}

static __attribute__((noinline)) void kw_played_load(int n, const char *from, kw_i64 step) {
    kw_played_zero(n);
    for (int row = 0; row < kw_played.rows[n] && !kw_played.bad; row++)
        __builtin_memcpy(kw_played.data[n][row], from + row * step, kw_played.bytes[n]);
}

static __attribute__((noinline)) void kw_played_store(int n, char *to, kw_i64 step) {
    int rows = kw_played.rows[n], bytes = kw_played.bytes[n];
    kw_played.bad |= !rows;
    for (int row = 0; row < rows; row++) {
        if (kw_played.bad) {
            __builtin_memset(to + row * step, 0x7f, bytes);
        } else {
            __builtin_memcpy(to + row * step, kw_played.data[n][row], bytes);
        }
    }
}

static __attribute__((noinline)) void kw_played_dot(int c, int a, int b) {
    const kw_played_tiles *t = &kw_played;
    if (t->rows[c] != t->rows[a] || t->bytes[c] != t->bytes[b] || t->bytes[a] != 4 * t->rows[b] || !t->rows[c] || !t->rows[b] || c == a ||
        c == b || a == b) {
        kw_played.bad = 1;
        return;
    }
    for (int row = 0; row < t->rows[c]; row++) {
        kw_vi sums = (kw_vi)kw_load(t->data[c][row]);
        for (int k = 0; k < t->rows[b]; k++) {
            kw_u32 pair = *(const kw_u32 *)(t->data[a][row] + 4 * k);
            kw_vu w = (kw_vu)kw_load(t->data[b][k]);
#if KW_STORAGE == 1
            kw_vu low = (kw_vu){0} + (pair << 16), high = (kw_vu){0} + (pair & 0xffff0000u);
            kw_vf sum = (kw_vf)sums + (kw_vf)low * (kw_vf)(w << 16);
            sums = (kw_vi)(sum + (kw_vf)high * (kw_vf)(w & 0xffff0000u));
#else
            for (int e = 0; e < 4; e++) {
                kw_u32 top = pair << (24 - 8 * e);
                sums += ((kw_vi)(w << (24 - 8 * e)) >> 24) * (KW_X_UNSIGNED ? (int)(top >> 24) : (int)top >> 24);
            }
#endif
        }
        kw_put(kw_played.data[c][row], (kw_vf)sums);
    }
}

#define KW_AMX_BEGIN(sizes) kw_played_begin(&(sizes))
#define KW_AMX_END() (kw_played.palette = 0, __builtin_memset(kw_played.rows, 0, sizeof kw_played.rows))
#define KW_AMX_ZERO(t) kw_played_zero(t);
#define KW_AMX_LOAD(t, p, step) kw_played_load(t, p, step);
#define KW_AMX_PASS KW_AMX_LOAD
#define KW_AMX_STORE(t, p, step) kw_played_store(t, p, step);
#define KW_AMX_DOT(c, a, b) kw_played_dot(c, a, b);
