/* sums_cpu.h: sums on their way into an epilogue (epilogue_cpu.h): as fp32, and
 * where w has zero points less so many times the sums of x. */
#ifndef KW_SUMS_CPU_H
#define KW_SUMS_CPU_H

/* Sums as they come: of int8 they are whole numbers of 32 bits, unless they
 * were formed in fp32. */
#if !KW_W_ZERO
KW_INLINE kw_vf kw_sums(kw_vf v) { return KW_STORAGE == 3 && KW_MATH != 0 ? kw_from_int32((kw_vi)v) : v; }
#define kw_sums_of_channels(v, at) kw_sums(v)
#define kw_sums_of_pixels(v, at) kw_sums(v)
#else
/* w has zero points: so many times the sums of x, which the library made
 * (config/launch/x_sums.h), for each row one a group, are taken off. All of it
 * is exact modulo 2^32. */
KW_INLINE kw_vi kw_whole_int32(const char *tensor, kw_i64 at, kw_lanes lanes) { return (kw_vi)kw_words(tensor + 4 * at, lanes); }
KW_INLINE kw_vi kw_whole_int8(const char *tensor, kw_i64 at, kw_lanes lanes) {
    return __builtin_convertvector(kw_bytes(tensor + at, lanes), kw_vi);
}
KW_INLINE kw_vi kw_whole_uint8(const char *tensor, kw_i64 at, kw_lanes lanes) {
    return __builtin_convertvector((kw_vc)kw_bytes(tensor + at, lanes), kw_vi);
}
KW_INLINE int kw_whole_one_int32(const char *tensor, kw_i64 at) { return *(const kw_i32_u *)(tensor + 4 * at); }
KW_INLINE int kw_whole_one_int8(const char *tensor, kw_i64 at) { return *(const kw_i8_u *)(tensor + at); }
KW_INLINE int kw_whole_one_uint8(const char *tensor, kw_i64 at) { return *(const unsigned char *)(tensor + at); }

KW_INLINE kw_i64 kw_x_sum_groups(kw_place at) { return KW_ROW_GROUPS ? 1 : at.args->groups; }
KW_INLINE int kw_x_sum(kw_place at, kw_i64 channel, kw_i64 row) {
    kw_i64 groups = kw_x_sum_groups(at), group = groups > 1 ? channel / at.args->k : 0;
    return kw_whole_one_int32(at.args->extra[KW_X_SUMS_AT], row * groups + group);
}
KW_INLINE int kw_w_zero(kw_place at) { return KW_W_ZERO_WORD(kw_whole_one_)(at.args->extra[KW_W_ZERO_AT], KW_W_ZERO_ONE ? 0 : at.channel); }
KW_INLINE kw_vf kw_sums_less(kw_vf v, kw_vi less) {
    kw_vi whole = (KW_MATH != 0 ? (kw_vi)v : kw_nearest(v)) - less;
    return KW_EPILOGUE_WHOLE ? (kw_vf)whole : kw_from_int32(whole);
}
/* Of lanes that go on from group to group: each group's sum in the lanes from
 * its first one on. */
KW_INLINE kw_vi kw_x_sums_of_lanes(kw_place at) {
    static const int numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    kw_i64 width = at.args->k, group = (at.channel + at.lanes.first) / width, at_row = at.row * at.args->groups;
    kw_vi sums = {0}, lanes = (kw_vi)kw_load(numbers);
    for (kw_i64 lane = group * width - at.channel; lane < at.lanes.end; lane += width, group++) {
        kw_vi from = lanes >= (int)lane;
        sums = (sums & ~from) | (kw_whole_one_int32(at.args->extra[KW_X_SUMS_AT], at_row + group) & from);
    }
    return sums;
}
/* A vector of channels; each lane may be of a group of its own. */
KW_INLINE kw_vf kw_sums_of_channels(kw_vf v, kw_place at) {
    kw_vi sums = {0}, zeros = kw_w_zero(at) - (kw_vi){0};
    if (kw_x_sum_groups(at) == 1)
        sums = kw_x_sum(at, at.channel, at.row) - (kw_vi){0};
    else if (at.args->k == 1)
        sums = kw_whole_int32(at.args->extra[KW_X_SUMS_AT], at.row * at.args->groups + at.channel, at.lanes);
    else
        sums = kw_x_sums_of_lanes(at);
    if (!KW_W_ZERO_ONE) zeros = KW_W_ZERO_WORD(kw_whole_)(at.args->extra[KW_W_ZERO_AT], at.channel, at.lanes);
    return kw_sums_less(v, zeros * sums);
}
/* A vector of pixels of one channel. */
KW_INLINE kw_vf kw_sums_of_pixels(kw_vf v, kw_place at) {
    kw_vi sums = {0};
    if (kw_x_sum_groups(at) == 1)
        sums = kw_whole_int32(at.args->extra[KW_X_SUMS_AT], at.row, at.lanes);
    else
        for (int lane = at.lanes.first; lane < at.lanes.end; lane++)
            sums[lane] = kw_x_sum(at, at.channel, at.row + lane);
    return kw_sums_less(v, kw_w_zero(at) * sums);
}
#endif

#endif
