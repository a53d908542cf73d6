/* apart.h: where pixels of channels-last tensors lie that are parts of larger ones (KW_APART): at the distances of args->x_step and y_step.
 * Texts for dense tensors reckon with sizes instead, of which a compiler makes more. */
enum { KW_TO_IMAGE, KW_TO_PLANE, KW_TO_ROW, KW_TO_COLUMN };

/* Elements in front of a pixel. */
KW_INLINE kw_i64 kw_apart(const kw_i64 step[5], kw_i64 image, kw_i64 plane, kw_i64 row, kw_i64 column) {
    return image * step[KW_TO_IMAGE] + plane * step[KW_TO_PLANE] + row * step[KW_TO_ROW] + column * step[KW_TO_COLUMN];
}

/* Elements from the first to behind the last. */
KW_INLINE kw_i64 kw_apart_span(const kw_i64 step[5], kw_i64 images, const kw_i64 size[3], kw_i64 channels) {
    return kw_apart(step, images - 1, size[0] - 1, size[1] - 1, size[2] - 1) + channels;
}

/* Narrow pixels, of 16 bytes at most, side by side, each by one move: what it writes behind its pixel is the next one's place. The last ones, behind
 * which a tensor may end, are moved byte by byte. flip: what is exclusive-ored to each 8 bytes. */
static __attribute__((unused)) void kw_bring_together(char *to, const char *from, kw_i64 pitch, kw_i64 bytes, kw_i64 pixels, kw_i64 flip) {
    typedef kw_i64 sixteen __attribute__((vector_size(16), aligned(1), may_alias));
    typedef kw_i64 eight __attribute__((aligned(1), may_alias));
    kw_i64 width = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16, moved = kw_max(pixels - (width + bytes - 1) / bytes, 0), i = 0;
    if (width == 4) {
        for (; i < moved; i++, to += bytes, from += pitch)
            *(kw_i32_u *)to = *(const kw_i32_u *)from ^ (int)flip;
    } else if (width == 8) {
        for (; i < moved; i++, to += bytes, from += pitch)
            *(eight *)to = *(const eight *)from ^ flip;
    } else {
        for (; i < moved; i++, to += bytes, from += pitch)
            *(sixteen *)to = *(const sixteen *)from ^ (sixteen) { flip, flip };
    }
    for (; i < pixels; i++, to += bytes, from += pitch) {
        for (kw_i64 b = 0; b < bytes; b++)
            to[b] = (char)(from[b] ^ flip);
    }
}
