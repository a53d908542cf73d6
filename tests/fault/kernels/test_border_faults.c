/* test_border_faults.c: convolutions whose pixels lie in shared memory once for many taps (spec=stride1), on a device of few multiprocessors
 * (KW_EMU_UNITS), so that blocks have several tiles; and faults planted where the text finds rows, waits for them and gives them back. */
#include "support/kw_test.h"
#include "support/planted.h"

#define LOOP "gpu/pipeline/overlap.h"
#define STORE "gpu/pipeline/overlap_store.h"
#define PARTS "gpu/pipeline/overlap_border.h"
#define ROWS "gpu/igemm/border.h"
#define AXES                                                                                                                               \
    "tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle merge=1 "                            \
    "split_image=0 explicit=0 two_stage=0 spec=stride1 streamk=off persistent=1 index=32 "
#define FLAT "ndim=2 vec_a=8 vec_b=8 vec_c=8 "
#define DEEP "ndim=3 vec_a=8 vec_b=8 vec_c=8 "
#define ANY "ndim=2 vec_a=1 vec_b=1 vec_c=1 "
#define PINGPONG "pipe=pingpong wave_m=4 tile_m=64 wave_groups=2"
#define COOPERATIVE "pipe=cooperative wave_m=8 tile_m=128 wave_groups=1"

/* Two blocks. Filters that stay and such that do not, parts of the depth, an epilogue; pixels that come anew for each tap along the outermost
 * axis; channels that no vector divides; two taps a step. */
static const planted_pair kernels_with_borders[] = {
    {"conv.igemm conv_fwd bf16 " AXES FLAT PINGPONG " stages=9 split_k=1", "conv_fwd bf16 n6 c64 k64 i13x14 f3x3 p1x1"},
    {"conv.igemm conv_fwd fp16 " AXES FLAT COOPERATIVE " stages=5 split_k=1 epilogue=bias:fp32+relu+add:fp16",
     "conv_fwd fp16 n2 c136 k72 i13x14 f3x3 p1x1 epilogue=bias+relu+add"},
    {"conv.igemm conv_bwd_data bf16 " AXES FLAT PINGPONG " stages=5 split_k=5", "conv_bwd_data bf16 n1 c64 k256 i15x17 f3x2 p2x1 d1x2"},
    {"conv.igemm conv_bwd_data fp16 " AXES FLAT PINGPONG " stages=7 split_k=1", "conv_bwd_data fp16 n2 c72 k136 i15x17 f3x3 p1x1"},
    {"conv.igemm conv_fwd bf16 " AXES DEEP PINGPONG " stages=5 split_k=1", "conv_fwd bf16 n2 c72 k64 i3x7x9 f3x2x3 p2x0x1 d2x1x1"},
    {"conv.igemm conv_bwd_data bf16 " AXES ANY PINGPONG " stages=5 split_k=1", "conv_bwd_data bf16 n2 c83 k26 i13x9 f3x3 p1x1"},
    {"conv.igemm conv_fwd fp16 " AXES FLAT PINGPONG " stages=5 split_k=3", "conv_fwd fp16 n2 c32 k64 i13x9 f3x5 p1x2"},
};

/* Where filters are brought behind the pixels, who waits for a filter has waited for these. */
static const planted_fault faults[] = {
    {ROWS, "f->outer += last;", "f->outer += last;", 0},
    {ROWS, "shift += (tap - rest * extent) * (int)a->dilation[axis] * line;", "shift += (tap - rest * extent) * line;", 4},
    {ROWS, "kw_feed_taps(a) - 1 - tap - j", "tap + j", 12},
    {ROWS, "+ kw_border_low(a, axis);\n            number = rest;", ";\n            number = rest;", 15},
    {ROWS, "ok &= r.pos[axis] < extent;", "", 15},
    {ROWS, "f->block = last ? 0 : f->block + 1;", "", 14},
    {ROWS, "f->outer += last;", "", 16},
    {ROWS, "o[axis] = (outer - rest * extent) * (int)a->dilation[axis];", "o[axis] = outer - rest * extent;", 16},
    {ROWS, "if (axis < kw_border_shared(a)) return kw_border_result(a, axis);", "", 16},
    {ROWS, "f->tap = (step - number * steps) * f->joined;", "f->tap = 0;", 4},
    {PARTS, "if (step == work.first || feed.tap == 0) {", "if (step == work.first) {", 14},
    {PARTS, "kw_mbar_wait(kw_border_full_at(lds, border->stage), border->parity);", "", 1},
    {PARTS, "kw_mbar_wait(kw_border_empty_at(lds, border.stage), border.parity ^ 1);", "", 1},
    {PARTS, "if (gift->place >= 0) kw_border_give(lds, gift->place);", "", 31},
    {PARTS, "if (a->params.places) second = 0;", "", 1},
    {PARTS, "kw_wgmma_wait(2);", "kw_wgmma_wait(3);", 14},
    {PARTS, "if (s->block != halved)", "if (s->block != halved - 1)", 10},
    {PARTS, "s.tap = (work->first - s.block * kw_facts_of(work)->steps) * s.joined;", "s.tap = 0;", 4},
    {ROWS, "f->joined == 1 ? tap : 0", "tap", 64},
    {ROWS, "facts->bytes = kw_border_bytes(a);", "facts->bytes = kw_border_bytes(a) - KW_SLAB_ROW_BYTES;", 16},
    {PARTS, "r->parity ^= over;", "", 16},
    {ROWS, "(int)(a->params.pixels >> 3 * KW_BORDER_BITS) & ((1 << KW_BORDER_JOINED_BITS) - 1)", "1", 64},
    {PARTS, "kw_step_operand(next, 0)", "a", 64},
    {ROWS, "kw_feed_taps(a) - 1 - tap - j", "kw_feed_taps(a) - 1 - tap", 32},
    /* Lanes that have no row let products be without them: values are right, and an H200 hung. A compiler that optimises hides it. */
    {STORE, "kw_border_pixels(lds, group)[i * 16", "if (i < KW_REPEAT_M) kw_border_pixels(lds, group)[i * 16", 1},
    {STORE, "if (col + 1 < cols) kw_store_run(to", "kw_store_run(to", 32},
    {STORE, "if (words) {", "if (!words) {", 32},
    {LOOP, "kw_border_ring_next(&border, kw_border_count(&work), &work);", "", 13},
};

static void faults_at_borders_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels_with_borders, sizeof kernels_with_borders / sizeof *kernels_with_borders,
                 "2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_at_borders_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
