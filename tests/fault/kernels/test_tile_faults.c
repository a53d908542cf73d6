/* test_tile_faults.c: kernels of math=amx into whose texts a fault is planted. The tile registers are played (KW_TILES=played), so that it
 * needs no CPU that has them: what the processor would end the process for, and what would be a wrong result, verification must find. */
#include "backend/backend.h"
#include "jit/jit.h"
#include "measure/measure.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>

#define SIZES "cpu/lib/amx_sizes.h"
#define TILE "cpu/lib/amx_tile.h"
#define DENSE "cpu/lib/dense.h"
#define PRODUCT "cpu/gemm/gemm.c"
#define CONVOLUTION "cpu/direct/direct.c"
#define CONVOLUTION_SUM "cpu/direct/direct_sum.h"
#define CONVOLUTION_WALKS "cpu/direct/direct_walks.h"
#define CONVOLUTION_WEIGHTS "cpu/direct/direct_pack.h"
#define CONVOLUTION_COLUMNS "cpu/direct/direct_columns.h"
#define CONVOLUTION_TILES "cpu/direct/direct_amx.h"
#define GRADIENT "cpu/bwd_weight/bwd_weight.c"
#define GRADIENT_COPY "cpu/bwd_weight/bwd_weight_copy.h"
#define GRADIENT_PIXELS "cpu/bwd_weight/bwd_weight_pixels.h"
#define GRADIENT_TILE "cpu/bwd_weight/bwd_weight_amx.h"
#define PLAYED "prelude/tiles_played.h"

/* In the file of kernels/, text becomes other. */
typedef struct fault {
    const char *what, *file, *text, *other;
    bool int8_only, bf16_only, deep, flow; /* deep: a product of many slices; flow: a convolution whose tiles go on in the next row */
    bool parts, joins;                     /* a product of parts of its depth; a convolution of joined groups */
    bool gradient;                         /* a weight gradient, of several chunks a row and several boxes; bf16 alone */
    bool strided;                          /* a convolution of stride 2, whose copy has planes */
    bool first;                            /* a convolution of few channels, whose filter rows are pixels */
    bool slices;                           /* a convolution of so many channels that a band of tiles meets some runs before the next ones */
    bool chunks;                           /* of so many that it meets parts of runs */
    bool images;                           /* the same of small images, which have a unit together */
    bool together;                         /* a convolution of groups that have one copy */
    bool shallow;                          /* a product of one chunk, of fewer steps than a register has room for */
} fault;

static const fault faults[] = {
    {.what = "none: the copy itself is right", .file = SIZES, .text = "sizes", .other = "shapes"},
    {.what = "a palette that there is not", .file = SIZES, .text = ".palette = 1", .other = ".palette = 2"},
    {.what = "no configuration",
     .file = PRODUCT,
     .text = "kw_tiles_begin(depth_steps(a, p.depth), KW_ROW_GROUPS ? KW_TILE_COLS : p.rows);",
     .other = ""},
    {.what = "sums that are not cleared", .file = TILE, .text = "EACH_SUM(KW_AMX_CLEAR)", .other = ""},
    {.what = "weights of 16 steps where a chunk has fewer",
     .file = SIZES,
     .text = "(unsigned char)chunk",
     .other = "KW_AMX_ROWS",
     .shallow = true},
    {.what = "source rows too near each other",
     .file = TILE,
     .text = "KW_AMX_ROWS * step, step)",
     .other = "KW_AMX_ROWS * step, step - 4)"},
    {.what = "the second 16 pixels are the first again", .file = TILE, .text = "src + (pixels)*KW_AMX_ROWS * step", .other = "src"},
    {.what = "all blocks that meet a tile of rows are the first one", .file = PRODUCT, .text = "blocks + b)", .other = "blocks + k)"},
    {.what = "sums of the slices before are forgotten", .file = TILE, .text = "if (job->more || ", .other = "if (", .deep = true},
    {.what = "a slice's weights are the first one's again", .file = PRODUCT, .text = "+ step * KW_STEP_BYTES;", .other = ";", .deep = true},
    {.what = "not a number behind a copied row",
     .file = DENSE,
     .text = "if (at < end) kw_zero(to + at, end - at);",
     .other = "for (; at < end; at++) to[at] = (char)0xff;",
     .shallow = true,
     .bf16_only = true}, /* an integer meets a weight of zero */
    {.what = "bytes of the source as unsigned", .file = PLAYED, .text = "(int)top >> 24)", .other = "(int)(top >> 24))", .int8_only = true},
    {.what = "the second of a pair is left out",
     .file = PLAYED,
     .text = "(kw_vf)high *",
     .other = "0.0f * (kw_vf)high *",
     .bf16_only = true},
    {.what = "results that are stored by the wrong distance",
     .file = TILE,
     .text = "(v)*KW_VECTOR, weights_step)",
     .other = "(v)*KW_VECTOR, KW_VECTOR)"},
    {.what = "none: tiles of a convolution go on in the next row", .file = SIZES, .text = "sizes", .other = "shapes", .flow = true},
    {.what = "of a tile's rows the first one's taps alone",
     .file = CONVOLUTION_TILES,
     .text = "rows->at + row_last, runs",
     .other = "rows->at + row, runs",
     .flow = true},
    {.what = "each row of a tile has the first one's results",
     .file = CONVOLUTION_TILES,
     .text = "job->spill + (at - first) * KW_STEP_BYTES",
     .other = "job->spill",
     .flow = true},
    {.what = "rows outside the image are not copied",
     .file = CONVOLUTION_WALKS,
     .text = "axis == 1 && !flows(a)",
     .other = "axis == 1",
     .flow = true},
    {.what = "rows follow each other without what is between them",
     .file = CONVOLUTION_TILES,
     .text = "kw_i64 pitch = flows(a) ? a->params.flow : cols->count,",
     .other = "kw_i64 pitch = cols->count,",
     .flow = true},
    {.what = "none: slices of a convolution's runs", .file = SIZES, .text = "sizes", .other = "shapes", .slices = true},
    {.what = "each slice goes on to the last run",
     .file = CONVOLUTION_TILES,
     .text = "behind = behind < of_slice + slice ? behind : of_slice + slice;",
     .other = "",
     .slices = true},
    {.what = "the sums of a band in one place",
     .file = CONVOLUTION_TILES,
     .text = "block.spill + (slices > 1 ? waits : 0)",
     .other = "block.spill",
     .slices = true},
    {.what = "none: slices of parts of a convolution's runs", .file = SIZES, .text = "sizes", .other = "shapes", .chunks = true},
    {.what = "each slice has the first one's pixels",
     .file = CONVOLUTION_TILES,
     .text = "job.src += 4 * step;",
     .other = "",
     .chunks = true},
    {.what = "each slice has the first one's weights",
     .file = CONVOLUTION_TILES,
     .text = "block.w + step * KW_STEP_BYTES",
     .other = "block.w",
     .chunks = true},
    {.what = "none: small images that have a unit together", .file = SIZES, .text = "sizes", .other = "shapes", .images = true},
    {.what = "later images have the first one's pixels",
     .file = CONVOLUTION_TILES,
     .text = "job.src += image * all->src;",
     .other = "",
     .images = true},
    {.what = "later images' results are the first one's",
     .file = CONVOLUTION_TILES,
     .text = "job.out += image * all->out;",
     .other = "",
     .images = true},
    {.what = "later units begin with the first one's images",
     .file = CONVOLUTION,
     .text = "b->n = unit * images_together(a);",
     .other = "b->n = unit;",
     .images = true},
    {.what = "none: planes of a strided convolution", .file = SIZES, .text = "sizes", .other = "shapes", .strided = true},
    {.what = "columns of all places in one plane", .file = CONVOLUTION, .text = " + x % step[2])", .other = ")", .strided = true},
    {.what = "a plane's rows as far apart as the image's",
     .file = CONVOLUTION,
     .text = "y / step[1] * a->params.row",
     .other = "y * a->params.row",
     .strided = true},
    {.what = "pixels of a plane as far apart as the image's",
     .file = CONVOLUTION_SUM,
     .text = "if (in_planes(a)) job.src_pixel = p->pixel;",
     .other = "",
     .strided = true},
    {.what = "a plane is filled from the row's first column on",
     .file = CONVOLUTION,
     .text = "column = x->low + place, count",
     .other = "column = x->low, count",
     .strided = true},
    {.what = "none: parts of the depth", .file = SIZES, .text = "sizes", .other = "shapes", .parts = true},
    {.what = "the first part's rows are copied again",
     .file = PRODUCT,
     .text = "batch + first * p->a_deep,",
     .other = "batch,",
     .parts = true},
    {.what = "the sums of all blocks in one place", .file = PRODUCT, .text = "(k - h->k) * block_spill", .other = "0", .parts = true},
    {.what = "a part is read from where the whole depth would have it",
     .file = PRODUCT,
     .text = "4 * (step - h->step);",
     .other = "4 * step;",
     .parts = true},
    {.what = "not a number behind a part",
     .file = PRODUCT,
     .text = "kw_zero(to + part.depth * KW_WORD, missing);",
     .other = "kw_fill(to + part.depth * KW_WORD, missing, ~0u);",
     .parts = true,
     .bf16_only = true},
    {.what = "none: groups that have one copy", .file = SIZES, .text = "sizes", .other = "shapes", .together = true},
    {.what = "each group has the first one's pixels",
     .file = CONVOLUTION_TILES,
     .text = "job.src += group * SRC_CHANNELS(a) * KW_WORD;",
     .other = "",
     .together = true},
    {.what = "each group has the first one's weights",
     .file = CONVOLUTION_TILES,
     .text = "(group * blocks_of(a) + k) * block_bytes(a)",
     .other = "k * block_bytes(a)",
     .together = true},
    {.what = "one group of several is copied",
     .file = CONVOLUTION,
     .text = "groups_of_unit(a, b) * SRC_CHANNELS(a)}",
     .other = "SRC_CHANNELS(a)}",
     .together = true},
    {.what = "none: joined groups", .file = SIZES, .text = "sizes", .other = "shapes", .joins = true},
    {.what = "between groups stand weights",
     .file = CONVOLUTION_WEIGHTS,
     .text = "kw_zero(to, run_bytes(a));",
     .other = "kw_fill(to, run_bytes(a), 0x3f3f3f3f);",
     .joins = true},
    {.what = "all groups have the first one's weights",
     .file = CONVOLUTION_WEIGHTS,
     .text = "(group * a->k * row",
     .other = "(0 * row",
     .joins = true},
    {.what = "joined groups as far apart as one",
     .file = CONVOLUTION_WEIGHTS,
     .text = "unit / blocks * joined(a) * a->k",
     .other = "unit / blocks * a->k",
     .joins = true},
    {.what = "none: a weight gradient", .file = GRADIENT_TILE, .text = "tile_row", .other = "sums_row", .gradient = true},
    {.what = "what is behind a row's last pixel is a number",
     .file = GRADIENT_COPY,
     .text = "__builtin_memset(line, 0, channels",
     .other = "__builtin_memset(line, 0x40, channels",
     .gradient = true},
    {.what = "a row's second chunk has the first one's pixels",
     .file = GRADIENT_TILE,
     .text = "b += job->b_step[3]",
     .other = "b += 0",
     .gradient = true},
    {.what = "sums of the boxes before are forgotten",
     .file = GRADIENT_TILE,
     .text = "if (job->from) {",
     .other = "if (!job) {",
     .gradient = true},
    {.what = "a channel's pixels lie nearer than they were copied",
     .file = GRADIENT,
     .text = "job.b_row = KW_BWD_WEIGHT_PITCH(s->args->params.chunk);",
     .other = "job.b_row = s->args->params.chunk * 4;",
     .gradient = true},
    {.what = "of a gradient's tile the first registers of rows alone",
     .file = GRADIENT,
     .text = "ceil_div(rows, KW_AMX_ROWS)",
     .other = "1",
     .gradient = true},
    {.what = "of a gradient's tile the first vectors alone",
     .file = GRADIENT,
     .text = "ceil_div(channels, KW_LANES)",
     .other = "1",
     .gradient = true},
    {.what = "pairs are of pixels that do not follow each other",
     .file = GRADIENT_PIXELS,
     .text = "x_step = KW_PAIRED_X(a) ? s->x.step[KW_BOX_W] : 2 * x_step;",
     .other = "",
     .gradient = true},
    {.what = "none: a convolution of few channels", .file = SIZES, .text = "sizes", .other = "shapes", .first = true},
    {.what = "columns behind a row are what was there",
     .file = CONVOLUTION,
     .text = "kw_pad(a, side_by_side + (high - first) * bytes, (last - high) * bytes);",
     .other = "",
     .first = true},
    {.what = "result columns read as if there were no padding",
     .file = CONVOLUTION,
     .text = "kw_i64 first = x->low * step - given->pad[2],",
     .other = "kw_i64 first = x->low * step,",
     .first = true},
    {.what = "one column of a filter row is a pixel's",
     .file = CONVOLUTION_COLUMNS,
     .text = "c.seen.c *= a->filter[2];",
     .other = "",
     .first = true},
};

/* All places of text in the file become other. */
static void change_file(const char *kernels, const fault *f) {
    char path[2 * SCRATCH_MAX];
    size_t size;
    scratch_path(path, kernels, f->file);
    char *from = scratch_read(path, &size), *at = from;
    kw_text to = {0};
    int places = 0;
    for (char *found; (found = strstr(at, f->text)); at = found + strlen(f->text), places++) {
        kw_text_add_bytes(&to, at, (size_t)(found - at));
        kw_text_add(&to, f->other);
    }
    kw_text_add(&to, at);
    if (!places) {
        fail_msg("%s has no '%s'", f->file, f->text);
    }
    scratch_write(path, kw_text_string(&to), to.size, 0600);
    kw_text_drop(&to);
    free(from);
}

static void verify(const char *dtype, const fault *f, kw_record *record) {
    const kw_backend *backend = NULL;
    kw_device *device = NULL;
    kw_problem problem;
    kw_config config;
    kw_compiler compiler;
    kw_blob blob;
    kw_jit_result result;
    kw_kernel *kernel = NULL;
    kw_bench *bench = NULL;
    kw_error err = {0};
    char text[128];
    int index = 0;
    assert_ok(kw_backend_find(&backend, &index, "cpu", &err), &err);
    assert_ok(backend->open(&device, index, 1, &err), &err);
    const char *convolution = f->images ? "conv.direct conv_fwd %s isa=avx512 math=amx tile_h=1 tile_w=16 vecs=2 band=0 edge=pad"
                                        : "conv.direct conv_fwd %s isa=avx512 math=amx tile_h=1 tile_w=32 vecs=2 band=0 edge=pad";
    const char *product = "gemm.tiled gemm %s isa=avx512 math=amx tile_m=32 vecs=2 band=0 ahead=0";
    const char *gradient = "conv.direct_bwd_weight conv_bwd_weight %s isa=avx512 math=amx lanes=c tile=32 vecs=2 copy=1 merge=0 box=64";
    const char *first = "conv.direct_1st conv_fwd %s isa=avx512 math=amx tile_w=32 vecs=2 band=0";
    bool direct = f->flow || f->joins || f->strided || f->slices || f->chunks || f->images || f->together;
    snprintf(text, sizeof text, direct ? convolution : f->gradient ? gradient : f->first ? first : product, dtype);
    assert_ok(kw_config_parse(&config, text, &err), &err);
    /* 37 steps, so that 3 chunks of 13 end with zeros; or so many that a first-level cache of 48 KB, too, holds a slice of them */
    int depth = f->deep ? 6000 : f->parts ? 4666 : f->shallow ? 25 : 73;
    const char *columns = f->parts ? "m100 n300" : "m75 n40";
    snprintf(text, sizeof text, "gemm %s rcr %s k%d", dtype, columns, !strcmp(dtype, "int8") ? 2 * depth - 1 : depth);
    if (f->together) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc g3 c%d k72 i9x9 f3x3 p1x1", dtype, !strcmp(dtype, "int8") ? 192 : 96);
    } else if (f->joins) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc g9 c27 k63 i9x9 f3x3 p1x1", dtype);
    } else if (f->strided) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc n2 c40 k72 i17x18 f3x3 s2x2 p1x1", dtype);
    } else if (f->flow) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc n2 c40 k72 i9x9 f3x3 p1x1", dtype);
    } else if (f->slices) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc c119 k40 i20x20 f5x5 p2x2", dtype);
    } else if (f->chunks) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc c%d k40 i9x20 f1x3 p0x1", dtype, !strcmp(dtype, "int8") ? 1000 : 500);
    } else if (f->images) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc n6 c%d k40 i3x9 f1x3 p0x1", dtype, !strcmp(dtype, "int8") ? 1000 : 500);
    } else if (f->first) {
        snprintf(text, sizeof text, "conv_fwd %s nhwgc c5 k40 i19x19 f3x3 p1x1", dtype);
    } else if (f->gradient) {
        snprintf(text, sizeof text, "conv_bwd_weight %s nhwgc n2 c40 k40 i6x70 f3x3 p1x1", dtype);
    }
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    if (kw_compiler_find(&compiler, getenv("KW_TEST_CC"), (kw_code){0}, &err) || kw_config_runs(&config, backend->target(device), &err)) {
        print_message("skipped: %s\n", err.text);
        backend->close(&device);
        skip();
    }
    kw_jit jit = {.compiler = &compiler};
    assert_ok(kw_jit_blob(&jit, &config, &blob, &result, &err), &err);
    assert_ok(backend->load(device, &config, &blob, &kernel, &err), &err);
    kw_blob_drop(&blob);
    assert_ok(kw_bench_open(&bench, backend, device, &problem, 0, &err), &err);
    assert_ok(kw_bench_verify(bench, kernel, &config, record, &err), &err);
    kw_bench_close(&bench);
    backend->unload(device, &kernel);
    backend->close(&device);
}

static void planted_faults_are_found(void **state) {
    static const char *const dtypes[] = {"bf16", "int8"};
    (void)state;
    int missed = 0;
    setenv("KW_TILES", "played", 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        char folder[SCRATCH_MAX], kernels[2 * SCRATCH_MAX], command[4 * SCRATCH_MAX];
        scratch_make(folder);
        scratch_path(kernels, folder, "kernels");
        snprintf(command, sizeof command, "cp -r '%s' '%s'", KW_KERNEL_FOLDER, kernels);
        assert_int_equal(system(command), 0);
        change_file(kernels, f);
        setenv("KW_KERNELS", kernels, 1);
        for (int d = 0; d < 2; d++) {
            kw_record record = {0};
            if (!(f->int8_only && d == 0) && !((f->bf16_only || f->gradient) && d == 1)) {
                verify(dtypes[d], f, &record);
                bool right = record.outcome == (strncmp(f->what, "none", 4) ? KW_WRONG : KW_GOOD);
                missed += !right;
                print_message("%s%s, %s: %s %s\n", right ? "" : "MISSED: ", f->what, dtypes[d], kw_outcome_name(record.outcome),
                              record.detail);
            }
        }
        unsetenv("KW_KERNELS");
        scratch_remove(folder);
    }
    unsetenv("KW_TILES");
    assert_int_equal(missed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_faults_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
