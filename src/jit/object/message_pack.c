/* message_pack.c: the format's first bytes as a table of ranges. Every item takes at least a byte, so a count that lies ends at the end of
 * the bytes and not before 2^64. */
#include "jit/object/message_pack.h"

/* What follows a first byte: so many bytes of a big-endian number, which is the value itself, a count of items, or a count of bytes that
 * follow. */
typedef enum follow { VALUE, SIGNED, ITEMS, PAIRS, TEXT, BYTES, EXTENSION } follow;

typedef struct range {
    uint8_t first, last;
    uint8_t mask; /* of the first byte, where its low bits are the number */
    uint8_t bytes;
    follow what;
} range;

static const range ranges[] = {
    {0x00, 0x7f, 0x7f, 0, VALUE}, {0x80, 0x8f, 0x0f, 0, PAIRS},  {0x90, 0x9f, 0x0f, 0, ITEMS},  {0xa0, 0xbf, 0x1f, 0, TEXT},
    {0xc0, 0xc0, 0, 0, BYTES},    {0xc2, 0xc3, 0, 0, BYTES},     {0xc4, 0xc4, 0, 1, BYTES},     {0xc5, 0xc5, 0, 2, BYTES},
    {0xc6, 0xc6, 0, 4, BYTES},    {0xc7, 0xc7, 0, 1, EXTENSION}, {0xc8, 0xc8, 0, 2, EXTENSION}, {0xc9, 0xc9, 0, 4, EXTENSION},
    {0xca, 0xca, 0, 4, SIGNED},   {0xcb, 0xcb, 0, 8, SIGNED},    {0xcc, 0xcc, 0, 1, VALUE},     {0xcd, 0xcd, 0, 2, VALUE},
    {0xce, 0xce, 0, 4, VALUE},    {0xcf, 0xcf, 0, 8, VALUE},     {0xd0, 0xd0, 0, 1, SIGNED},    {0xd1, 0xd1, 0, 2, SIGNED},
    {0xd2, 0xd2, 0, 4, SIGNED},   {0xd3, 0xd3, 0, 8, SIGNED},    {0xd9, 0xd9, 0, 1, TEXT},      {0xda, 0xda, 0, 2, TEXT},
    {0xdb, 0xdb, 0, 4, TEXT},     {0xdc, 0xdc, 0, 2, ITEMS},     {0xdd, 0xdd, 0, 4, ITEMS},     {0xde, 0xde, 0, 2, PAIRS},
    {0xdf, 0xdf, 0, 4, PAIRS},    {0xe0, 0xff, 0, 0, SIGNED},
};

static const range *range_of(uint8_t byte) {
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (byte >= ranges[i].first && byte <= ranges[i].last) {
            return &ranges[i];
        }
    }
    return NULL; /* extensions of fixed size and the byte that is never used: metadata has neither */
}

bool kw_pack_next(kw_pack *pack, kw_pack_item *item) {
    static const kw_pack_kind kinds[] = {
        [VALUE] = KW_PACK_NUMBER, [SIGNED] = KW_PACK_OTHER, [ITEMS] = KW_PACK_ARRAY,    [PAIRS] = KW_PACK_MAP,
        [TEXT] = KW_PACK_TEXT,    [BYTES] = KW_PACK_OTHER,  [EXTENSION] = KW_PACK_OTHER};
    const range *first = pack->at < pack->end ? range_of(*pack->at) : NULL;
    if (!first || pack->end - pack->at <= first->bytes) {
        return false;
    }
    uint64_t number = *pack->at++ & first->mask;
    for (int i = 0; i < first->bytes; i++) {
        number = number << 8 | *pack->at++;
    }
    *item = (kw_pack_item){.kind = kinds[first->what], .number = number};
    uint64_t skipped = first->what == TEXT || first->what == BYTES ? number : first->what == EXTENSION ? number + 1 : 0;
    if (skipped > (uint64_t)(pack->end - pack->at)) {
        return false;
    }
    item->text = (kw_word){(const char *)pack->at, first->what == TEXT ? (size_t)number : 0};
    pack->at += skipped;
    if (item->kind == KW_PACK_NUMBER && number > INT64_MAX) {
        item->kind = KW_PACK_OTHER;
    }
    return true;
}

static uint64_t held(const kw_pack_item *item) {
    return item->kind == KW_PACK_MAP ? 2 * item->number : item->kind == KW_PACK_ARRAY ? item->number : 0;
}

bool kw_pack_skip(kw_pack *pack, const kw_pack_item *item) {
    kw_pack_item inner;
    for (uint64_t left = held(item); left; left += held(&inner) - 1) {
        if (!kw_pack_next(pack, &inner)) {
            return false;
        }
    }
    return true;
}
