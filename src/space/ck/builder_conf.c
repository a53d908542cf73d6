/* builder_conf.c: the files of a folder, line by line. A line is taken apart (builder_line.c) and read as its file and the family say: a depthwise
 * kernel here, all others in builder_igemm.c. */
#include "space/ck/builder_conf.h"

#include "base/container/arena.h"
#include "base/os/file.h"
#include "space/ck/builder_igemm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIST_LIMIT = 16 << 20 };

/* Of the lines that have one: tile, filter, strides, paddings, planes of a block, subtile, accesses. */
static kw_status take_depthwise(kw_builder_line *in) {
    static const struct {
        const char *axis;
        int place;
    } whole[] = {{"tile_h", 0}, {"tile_w", 1}, {"filter", 2}, {"stride", 3},  {"pad", 5},
                 {"batch", 7},  {"sub_h", 8},  {"sub_w", 9},  {"vec_in", 10}, {"vec_out", 11}};
    enum { COUNT = 12 };
    if (in->count != COUNT || (in->name.size && !kw_builder_contains(in->name, "Depthwise"))) {
        return kw_fail(in->err, KW_MALFORMED, "%s: '%.*s' with %d values is no depthwise kernel, which has %d", in->place,
                       KW_WORD(in->name), in->count, COUNT);
    }
    int64_t across, down;
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < sizeof whole / sizeof *whole; i++) {
        status = kw_builder_set_number(in, whole[i].axis, whole[i].place);
    }
    for (int place = 3; !status && place <= 5; place += 2) {
        status = kw_builder_number(in, place, &down);
        status = status ? status : kw_builder_number(in, place + 1, &across);
        if (!status && down != across) {
            status = kw_fail(in->err, KW_ILLEGAL, "%s: a %s of %lldx%lld; it must be the same on both axes", in->place,
                             place == 3 ? "stride" : "padding", (long long)down, (long long)across);
        }
    }
    return status;
}

/* CK's depthwise kernels are made for one size of filter, its implicit products for any. */
static bool is_depthwise(const kw_config *config) {
    return kw_config_axis(config, "filter", 0) > 0;
}

kw_status kw_builder_text(kw_catalog *out, const char *name, kw_word text, int64_t wave, const kw_config *base, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word line;
    kw_status status = KW_OK;
    for (int number = 1; !status && kw_scan_line(&scan, &line); number++) {
        line = kw_builder_trimmed(line);
        if (!line.size || memchr(line.at, '#', line.size) || memchr(line.at, ';', line.size)) {
            continue;
        }
        char place[512];
        snprintf(place, sizeof place, "%.400s:%d", name, number);
        kw_builder_line in = {.place = place, .config = *base, .err = err};
        bool taken = true;
        status = kw_builder_line_parse(&in, line);
        status = status ? status : is_depthwise(base) ? take_depthwise(&in) : kw_builder_igemm(&in, wave, &taken);
        if (!status && taken) {
            status = kw_catalog_add(out, &in.config, NULL, err);
        }
    }
    return status;
}

static const char *direction(kw_op op) {
    return op == KW_CONV_FWD ? "forward" : op == KW_CONV_BWD_DATA ? "backward_data" : "backward_weight";
}

static const char *const layouts[] = {"nhwgc", "ndhwgc"}; /* of 2 and of 3 axes */

static char *list_path(kw_arena *arena, const kw_builder_lists *lists, const kw_config *config, int layout, bool streams) {
    return kw_arena_format(arena, "%s/%s/%s/%s_%s%s.conf", lists->folder, direction(config->op), lists->subset, layouts[layout],
                           kw_dtype_name(config->dtype), streams ? "_streamk" : "");
}

static char *depthwise_path(kw_arena *arena, const kw_builder_lists *lists) {
    return kw_arena_format(arena, "%s/forward/%s/ngchw_depthwise.conf", lists->folder, lists->subset);
}

/* Whether the subset has any list. */
static bool has_lists(kw_arena *arena, const kw_builder_lists *lists) {
    static const kw_op ops[] = {KW_CONV_FWD, KW_CONV_BWD_DATA, KW_CONV_BWD_WEIGHT};
    char *shared = depthwise_path(arena, lists);
    if (shared && !access(shared, F_OK)) {
        return true;
    }
    for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
        kw_config config = {.op = ops[i % 3], .dtype = (kw_dtype)(i / 3 % 3)};
        char *path = list_path(arena, lists, &config, i / 9 % 2, i / 18);
        if (path && !access(path, F_OK)) {
            return true;
        }
    }
    return false;
}

/* Adds the configs of one list, if there is such a file. */
static kw_status read_builder_list(kw_catalog *out, const char *path, int64_t wave, const kw_config *base, kw_error *err) {
    kw_arena arena = {0};
    char *data;
    size_t size;
    if (!path) {
        return kw_fail_memory(err, "a path");
    }
    kw_status status = KW_OK;
    if (!access(path, F_OK)) {
        status = kw_file_read(&arena, path, LIST_LIMIT, &data, &size, err);
        status = status ? status : kw_builder_text(out, path, (kw_word){data, size}, wave, base, err);
    }
    kw_arena_drop(&arena);
    return status;
}

kw_status kw_builder_read(kw_catalog *out, const kw_builder_lists *lists, const kw_config *base, kw_error *err) {
    kw_arena arena = {0};
    kw_status status = KW_OK;
    if (!has_lists(&arena, lists)) {
        status = kw_fail(err, KW_MISSING, "%s: no lists such as forward/%s/nhwgc_fp16.conf; --builder-conf names the folder above",
                         lists->folder, lists->subset);
    } else if (is_depthwise(base)) {
        status = base->op == KW_CONV_FWD ? read_builder_list(out, depthwise_path(&arena, lists), lists->wave, base, err) : KW_OK;
    } else {
        int ndim = kw_family_axis(base->family, (kw_word){"ndim", 4});
        for (int i = 0; !status && i < 4; i++) {
            kw_config config = *base;
            config.axis[ndim] = 2 + i % 2;
            status = read_builder_list(out, list_path(&arena, lists, base, i % 2, i / 2), lists->wave, &config, err);
        }
    }
    kw_arena_drop(&arena);
    return status;
}
