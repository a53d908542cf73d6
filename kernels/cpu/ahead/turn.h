/* turn.h: a matrix of elements written by columns: to[col][row] = from[row][col]. What lies the wrong way round for a kernel (columns of
 * A, tensors with channels first) passes through it once on its way into the cache.
 *
 * A piece of KW_LANES columns is turned in registers as words of 4 bytes. Smaller elements are zipped first, two or four rows to a word, so a
 * piece has as many times the rows; widened they are words by themselves. The last piece of a side is moved back so that it is whole and writes
 * some of its neighbour's elements again; sides shorter than a piece go through a buffer, or where elements
 * have 2 bytes by masks. */
#if KW_LANES == 16
#define KW_EACH_WORD(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#else
#define KW_EACH_WORD(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#endif

#if defined(__clang__)
#define KW_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define KW_PICK(a, b, ...) __builtin_shuffle(a, b, (kw_vi){__VA_ARGS__})
#endif

/* Of two rows of blocks, 8, 4, 2 or 1 words wide: every second block of one changes places with every first of the other. */
#if KW_LANES == 16
#define KW_LOW_8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define KW_HIGH_8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define KW_LOW_4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define KW_HIGH_4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define KW_LOW_2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define KW_HIGH_2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define KW_LOW_1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define KW_HIGH_1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#else
#define KW_LOW_4 0, 1, 2, 3, 8, 9, 10, 11
#define KW_HIGH_4 4, 5, 6, 7, 12, 13, 14, 15
#define KW_LOW_2 0, 1, 8, 9, 4, 5, 12, 13
#define KW_HIGH_2 2, 3, 10, 11, 6, 7, 14, 15
#define KW_LOW_1 0, 8, 2, 10, 4, 12, 6, 14
#define KW_HIGH_1 1, 9, 3, 11, 5, 13, 7, 15
#endif

#define KW_EXCHANGE(i, j, low, high)                                                                                                       \
    {                                                                                                                                      \
        kw_vu first = KW_PICK(v##i, v##j, low);                                                                                            \
        v##j = KW_PICK(v##i, v##j, high);                                                                                                  \
        v##i = first;                                                                                                                      \
    }
#define KW_EXCHANGE_8(i, j) KW_EXCHANGE(i, j, KW_LOW_8, KW_HIGH_8)
#define KW_EXCHANGE_4(i, j) KW_EXCHANGE(i, j, KW_LOW_4, KW_HIGH_4)
#define KW_EXCHANGE_2(i, j) KW_EXCHANGE(i, j, KW_LOW_2, KW_HIGH_2)
#define KW_EXCHANGE_1(i, j) KW_EXCHANGE(i, j, KW_LOW_1, KW_HIGH_1)

/* Rows of a piece of elements of so many bytes, and of elements that become what a tile reads. */
#define KW_PIECE_ROWS(size) (KW_LANES * (4 / (size)))
#define KW_WORD_ROWS (KW_STORAGE == 3 ? KW_LANES * KW_PAIR : KW_LANES)
#define KW_WORD_SIZE (4 / (KW_STORAGE == 3 ? KW_PAIR : 1))

#define KW_ROW_WORDS(i) kw_vu v##i = *(const kw_vu_u *)(from + (i)*from_row);
#define KW_ROW_PAIRS_OF(i)                                                                                                                 \
    kw_vu v##i = kw_words_of_halves(*(const kw_vh_u *)(from + (2 * i) * from_row)) |                                                       \
                 kw_words_of_halves(*(const kw_vh_u *)(from + (2 * i + 1) * from_row)) << 16;
#if KW_BYTES == 1
typedef unsigned char kw_vc_u __attribute__((vector_size(KW_LANES), aligned(1), may_alias));
/* gcc 12 would widen the bytes piece by piece. */
KW_INLINE kw_vu widen_bytes(const char *p) {
    kw_vu v;
    __asm__("vpmovzxbd %1, %0" : "=v"(v) : "m"(*(const kw_vc_u *)p));
    return v;
}
#define KW_BYTES_OF(i) widen_bytes(from + (i)*from_row)
#define KW_ROW_QUADS(i)                                                                                                                    \
    kw_vu v##i = KW_BYTES_OF(4 * i) | KW_BYTES_OF(4 * i + 1) << 8 | KW_BYTES_OF(4 * i + 2) << 16 | KW_BYTES_OF(4 * i + 3) << 24;
#endif
#if KW_STORAGE == 3
/* A vector of words, of channels that lie side by side; of weights, or of x, which may be unsigned. */
KW_INLINE kw_vu words_of(const char *from, kw_i64 step, int of_x) {
    kw_vu words = {0};
    for (int e = 0; e < KW_PAIR; e++) {
        kw_vu value; /* gcc 12 would widen the bytes piece by piece */
        if (KW_WORD == 1 || (of_x && KW_X_UNSIGNED)) {
            __asm__("vpmovzxbd %1, %0" : "=v"(value) : "m"(*(const kw_vb_u *)(from + e * step)));
        } else {
            __asm__("vpmovsxbd %1, %0" : "=v"(value) : "m"(*(const kw_vb_u *)(from + e * step)));
            value &= 0xffffu;
        }
        words |= value << 8 * KW_WORD * e;
    }
    return words;
}
#define KW_ROW_WIDENED(i) kw_vu v##i = words_of(from + KW_PAIR * (i)*from_row, from_row, 1) ^ flip;
#elif KW_BYTES < 4
#define KW_ROW_WIDENED(i) kw_vu v##i = (kw_vu)kw_load_x(from + (i)*from_row);
#endif
#define KW_PUT_COLUMN(i) *(kw_vu_u *)(to + (i)*to_row) = v##i;

#if KW_LANES == 16
#define KW_TURN                                                                                                                            \
    KW_EXCHANGE_8(0, 8);                                                                                                                   \
    KW_EXCHANGE_8(1, 9);                                                                                                                   \
    KW_EXCHANGE_8(2, 10);                                                                                                                  \
    KW_EXCHANGE_8(3, 11);                                                                                                                  \
    KW_EXCHANGE_8(4, 12);                                                                                                                  \
    KW_EXCHANGE_8(5, 13);                                                                                                                  \
    KW_EXCHANGE_8(6, 14);                                                                                                                  \
    KW_EXCHANGE_8(7, 15);                                                                                                                  \
    KW_EXCHANGE_4(0, 4);                                                                                                                   \
    KW_EXCHANGE_4(1, 5);                                                                                                                   \
    KW_EXCHANGE_4(2, 6);                                                                                                                   \
    KW_EXCHANGE_4(3, 7);                                                                                                                   \
    KW_EXCHANGE_4(8, 12);                                                                                                                  \
    KW_EXCHANGE_4(9, 13);                                                                                                                  \
    KW_EXCHANGE_4(10, 14);                                                                                                                 \
    KW_EXCHANGE_4(11, 15);                                                                                                                 \
    KW_EXCHANGE_2(0, 2);                                                                                                                   \
    KW_EXCHANGE_2(1, 3);                                                                                                                   \
    KW_EXCHANGE_2(4, 6);                                                                                                                   \
    KW_EXCHANGE_2(5, 7);                                                                                                                   \
    KW_EXCHANGE_2(8, 10);                                                                                                                  \
    KW_EXCHANGE_2(9, 11);                                                                                                                  \
    KW_EXCHANGE_2(12, 14);                                                                                                                 \
    KW_EXCHANGE_2(13, 15);                                                                                                                 \
    KW_EXCHANGE_1(0, 1);                                                                                                                   \
    KW_EXCHANGE_1(2, 3);                                                                                                                   \
    KW_EXCHANGE_1(4, 5);                                                                                                                   \
    KW_EXCHANGE_1(6, 7);                                                                                                                   \
    KW_EXCHANGE_1(8, 9);                                                                                                                   \
    KW_EXCHANGE_1(10, 11);                                                                                                                 \
    KW_EXCHANGE_1(12, 13);                                                                                                                 \
    KW_EXCHANGE_1(14, 15)
#else
#define KW_TURN                                                                                                                            \
    KW_EXCHANGE_4(0, 4);                                                                                                                   \
    KW_EXCHANGE_4(1, 5);                                                                                                                   \
    KW_EXCHANGE_4(2, 6);                                                                                                                   \
    KW_EXCHANGE_4(3, 7);                                                                                                                   \
    KW_EXCHANGE_2(0, 2);                                                                                                                   \
    KW_EXCHANGE_2(1, 3);                                                                                                                   \
    KW_EXCHANGE_2(4, 6);                                                                                                                   \
    KW_EXCHANGE_2(5, 7);                                                                                                                   \
    KW_EXCHANGE_1(0, 1);                                                                                                                   \
    KW_EXCHANGE_1(2, 3);                                                                                                                   \
    KW_EXCHANGE_1(4, 5);                                                                                                                   \
    KW_EXCHANGE_1(6, 7)
#endif

/* Whole pieces of elements of 4, 2 and 1 bytes. */
static __attribute__((noinline, unused)) void turn_4(char *to, kw_i64 to_row, const char *from, kw_i64 from_row) {
    KW_EACH_WORD(KW_ROW_WORDS);
    KW_TURN;
    KW_EACH_WORD(KW_PUT_COLUMN);
}

#if KW_BYTES == 2
static __attribute__((noinline, unused)) void turn_2(char *to, kw_i64 to_row, const char *from, kw_i64 from_row) {
    KW_EACH_WORD(KW_ROW_PAIRS_OF);
    KW_TURN;
    KW_EACH_WORD(KW_PUT_COLUMN);
}
#endif

#if KW_BYTES == 1
static __attribute__((noinline, unused)) void turn_1(char *to, kw_i64 to_row, const char *from, kw_i64 from_row) {
    KW_EACH_WORD(KW_ROW_QUADS);
    KW_TURN;
    KW_EACH_WORD(KW_PUT_COLUMN);
}
#endif

#if KW_BYTES == 1
#define turn_own turn_1
#elif KW_BYTES == 2
#define turn_own turn_2
#else
#define turn_own turn_4
#endif

/* A whole piece as a tile reads it. */
#ifdef KW_ROW_WIDENED
static __attribute__((noinline, unused)) void turn_widened(char *to, kw_i64 to_row, const char *from, kw_i64 from_row) {
#if KW_STORAGE == 3
    const kw_u32 word = KW_ZERO_BYTE * 0x01010101u;
    kw_vu flip = (kw_vu)kw_spread_word(&word);
#endif
    KW_EACH_WORD(KW_ROW_WIDENED);
    KW_TURN;
    KW_EACH_WORD(KW_PUT_COLUMN);
}
#else
#define turn_widened turn_4
#endif

typedef void turner(char *to, kw_i64 to_row, const char *from, kw_i64 from_row);

/* How a piece is turned: rows of it, bytes of an element there and here. */
typedef struct piece {
    turner *turn;
    kw_i64 rows, from, to;
} piece;

KW_INLINE void move_bytes(char *to, const char *from, kw_i64 bytes) {
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8)
        __builtin_memcpy(to, from, 8);
    for (; bytes > 0; bytes--)
        *to++ = *from++;
}

/* A piece of fewer rows or columns. */
static __attribute__((noinline, unused)) void turn_part(const piece *p, char *to, kw_i64 to_row, const char *from, kw_i64 from_row,
                                                        kw_i64 rows, kw_i64 cols) {
    char source[4 * KW_LANES * KW_LANES], turned[4 * KW_LANES * KW_LANES];
    for (kw_i64 row = 0; row < rows; row++)
        move_bytes(source + row * KW_LANES * p->from, from + row * from_row, cols * p->from);
    p->turn(turned, 4 * KW_LANES, source, KW_LANES * p->from);
    for (kw_i64 col = 0; col < cols; col++)
        move_bytes(to + col * to_row, turned + col * 4 * KW_LANES, rows * p->to);
}

#if KW_BYTES == 2 && KW_MASKS
/* The same in registers: by way of memory the rows of a small image took three times as long. */
#define KW_SOME_OF(i)                                                                                                                      \
    (i) < rows ? kw_words_of_halves(kw_get_halves(from + (i)*from_row, lanes)) : (kw_vu) { 0 }
#define KW_SOME_PAIRS_OF(i)                                                                                                                \
    kw_vu v##i = KW_SOME_OF(2 * i);                                                                                                        \
    v##i |= (KW_SOME_OF(2 * i + 1)) << 16;
#define KW_PUT_SOME_OF(i)                                                                                                                  \
    if ((i) < cols) __asm__("vmovdqu16 %1, %0%{%2%}" : "+m"(*(kw_vu_u *)(to + (i)*to_row)) : "v"(v##i), "Yk"(elements));
static __attribute__((noinline, unused)) void turn_some(char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows,
                                                        kw_i64 cols) {
    kw_lanes_mask lanes = kw_first_lanes(cols);
    kw_u32 elements = rows < 32 ? (1u << rows) - 1 : ~0u;
    KW_EACH_WORD(KW_SOME_PAIRS_OF);
    KW_TURN;
    KW_EACH_WORD(KW_PUT_SOME_OF);
}
#define KW_TURN_PART(p, to, to_row, from, from_row, rows, cols)                                                                            \
    ((p)->turn == turn_2 ? turn_some(to, to_row, from, from_row, rows, cols) : turn_part(p, to, to_row, from, from_row, rows, cols))
#else
#define KW_TURN_PART turn_part
#endif

static __attribute__((unused)) void turn_by(const piece *p, char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows,
                                            kw_i64 cols) {
    for (kw_i64 r = 0; r < rows; r += p->rows) {
        kw_i64 row = rows < p->rows ? 0 : kw_min(r, rows - p->rows);
        for (kw_i64 c = 0; c < cols; c += KW_LANES) {
            kw_i64 col = cols < KW_LANES ? 0 : kw_min(c, cols - KW_LANES);
            char *at = to + col * to_row + row * p->to;
            const char *source = from + row * from_row + col * p->from;
            if (rows < p->rows || cols < KW_LANES)
                KW_TURN_PART(p, at, to_row, source, from_row, kw_min(rows, p->rows), kw_min(cols, KW_LANES));
            else
                p->turn(at, to_row, source, from_row);
        }
    }
}

/* Few rows of 4 bytes, as of a network's first layer: element by element. */
KW_INLINE void turn_few(char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows, kw_i64 cols, kw_i64 size) {
    for (kw_i64 row = 0; row < rows; row++, to += size, from += from_row)
        for (kw_i64 col = 0; col < cols; col++)
            __builtin_memcpy(to + col * to_row, from + col * size, size);
}

/* Three rows of words, as of a picture's colours: vectors of three, two or one word of a column in turn. Of lane l of vector v, the row, and the word of that row. */
#if KW_LANES == 16
#define KW_LANES_OF(F, v)                                                                                                                  \
    F(v, 0), F(v, 1), F(v, 2), F(v, 3), F(v, 4), F(v, 5), F(v, 6), F(v, 7), F(v, 8), F(v, 9), F(v, 10), F(v, 11), F(v, 12), F(v, 13),      \
        F(v, 14), F(v, 15)
#else
#define KW_LANES_OF(F, v) F(v, 0), F(v, 1), F(v, 2), F(v, 3), F(v, 4), F(v, 5), F(v, 6), F(v, 7)
#endif
#define KW_ROW_OF_3(v, l) (((v)*KW_LANES + (l)) % 3)
#define KW_WORD_OF_3(v, l) (((v)*KW_LANES + (l)) / 3)
#define KW_FIRST_TWO(v, l) (KW_ROW_OF_3(v, l) == 1 ? KW_LANES + KW_WORD_OF_3(v, l) : KW_WORD_OF_3(v, l))
#define KW_AND_THIRD(v, l) (KW_ROW_OF_3(v, l) == 2 ? KW_LANES + KW_WORD_OF_3(v, l) : (l))
#define KW_PUT_THREE(v)                                                                                                                    \
    {                                                                                                                                      \
        kw_vu two = KW_PICK(v0, v1, KW_LANES_OF(KW_FIRST_TWO, v));                                                                         \
        *(kw_vu_u *)(to + (v)*4 * KW_LANES) = KW_PICK(two, v2, KW_LANES_OF(KW_AND_THIRD, v));                                              \
    }

/* Columns of 3 rows that lie side by side there, of elements of 4 or 2 bytes; how many, the rest is left. Of 2 bytes a word has two columns of a row, and becomes
 * three words of two elements. */
KW_INLINE kw_i64 turn_3(char *to, const char *from, kw_i64 from_row, kw_i64 cols, kw_i64 size) {
    kw_i64 each = KW_LANES * 4 / size, col = 0;
    for (; size > 1 && col + each <= cols; col += each, from += 4 * KW_LANES, to += 3 * 4 * KW_LANES) {
        KW_ROW_WORDS(0) KW_ROW_WORDS(1) KW_ROW_WORDS(2) if (size == 2) {
            kw_vu first = (v0 & 0xffff) | v1 << 16, second = (v2 & 0xffff) | (v0 & 0xffff0000u);
            v2 = v1 >> 16 | (v2 & 0xffff0000u);
            v0 = first, v1 = second;
        }
        KW_PUT_THREE(0)
        KW_PUT_THREE(1)
        KW_PUT_THREE(2)
    }
    return col;
}

enum { KW_FEW_ROWS = 4 };

/* Elements of KW_BYTES, as they are. Distances in bytes. */
static __attribute__((unused)) void turn_elements(char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows, kw_i64 cols) {
    static const piece whole = {turn_own, KW_PIECE_ROWS(KW_BYTES), KW_BYTES, KW_BYTES};
    if (rows == 3 && to_row == 3 * KW_BYTES) {
        kw_i64 done = turn_3(to, from, from_row, cols, KW_BYTES);
        to += done * to_row, from += done * KW_BYTES, cols -= done;
    }
    if (rows <= KW_FEW_ROWS)
        turn_few(to, to_row, from, from_row, rows, cols, KW_BYTES);
    else
        turn_by(&whole, to, to_row, from, from_row, rows, cols);
}

/* Elements become what a tile reads (KW_WORD, KW_CONVERTS). */
static __attribute__((unused)) void turn_words(char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows, kw_i64 cols) {
    static const piece whole = {turn_widened, KW_WORD_ROWS, KW_BYTES, KW_WORD_SIZE};
    turn_by(&whole, to, to_row, from, from_row, rows, cols);
}
