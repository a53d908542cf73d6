/* message_pack.h: reads MessagePack, as far as the metadata of code objects goes: one item after the other, never past the end. */
#ifndef KW_JIT_OBJECT_MESSAGE_PACK_H
#define KW_JIT_OBJECT_MESSAGE_PACK_H

#include "base/text.h"

typedef struct kw_pack {
    const uint8_t *at, *end;
} kw_pack;

typedef enum kw_pack_kind {
    KW_PACK_NUMBER, /* whole, not negative, below 2^63 */
    KW_PACK_TEXT,
    KW_PACK_ARRAY, /* number items follow */
    KW_PACK_MAP,   /* number pairs of items follow */
    KW_PACK_OTHER  /* nothing, truth values, negative and broken numbers, bytes: passed over */
} kw_pack_kind;

typedef struct kw_pack_item {
    kw_pack_kind kind;
    uint64_t number;
    kw_word text;
} kw_pack_item;

/* The next item; of an array or map only its head. false at the end and at what is no MessagePack. */
bool kw_pack_next(kw_pack *pack, kw_pack_item *item);
/* Passes over what an item that was read holds. */
bool kw_pack_skip(kw_pack *pack, const kw_pack_item *item);

#endif
