/* amx_sizes.h: the sizes of tile registers, for texts whose kw_config.h has KW_EACH_SUM and KW_CHUNK (amx_tile.h says what they are). */

/* What ldtilecfg reads: bytes of a row, then rows, of each register. */
typedef struct kw_amx_sizes {
    unsigned char palette, start, none[14];
    kw_u16 bytes[16];
    unsigned char rows[16];
} kw_amx_sizes;

#define KW_AMX_SIZE_SUM(rows16, v, t) sizes.bytes[t] = 4 * KW_LANES, sizes.rows[t] = (unsigned char)rows;
#define KW_AMX_SIZE_SOURCE(rows16, t) sizes.bytes[t] = (kw_u16)(4 * chunk), sizes.rows[t] = (unsigned char)rows;
#define KW_AMX_SIZE_WEIGHTS(v, t) sizes.bytes[t] = 4 * KW_LANES, sizes.rows[t] = (unsigned char)chunk;
#define KW_AMX_NO_DOT(c, a, b)

/* For chunks of so many steps and, of pixels or spread channels, so many rows. */
static void kw_amx_begin(kw_i64 chunk, kw_i64 rows) {
    kw_amx_sizes sizes = {.palette = 1};
    KW_EACH_SUM(KW_AMX_SIZE_SUM)
    KW_CHUNK(KW_AMX_SIZE_SOURCE, KW_AMX_SIZE_WEIGHTS, KW_AMX_NO_DOT)
    KW_AMX_BEGIN(sizes);
}
