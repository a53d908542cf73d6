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
