/* emu_group.c: matrix instructions of four waves (PTX, "wgmma.mma_async"), 64 x N x 16 of 16-bit elements, 64 x N x 32 of bytes of
 * floating point or 64 x N x 8 of tf32, with fp32 sums, operands from shared memory by descriptors. Written from NVIDIA's manual: what a descriptor says, where the 128-byte swizzle puts an element, which
 * lane has which sum. Nothing of the kernel text is asked.
 *
 * A product reads shared memory and adds to its lanes' sums when it is waited for, which is as late as may be; from the moment that it is
 * asked for to then, what it reads may not be written. */
#include "backend/emu/hopper/emu_hopper.h"

#include "backend/emu/check/emu_aligned.h"
#include "backend/emu/check/emu_check.h"
#include "backend/emu/emu_element.h"
#include "backend/emu/check/emu_report.h"
#include "base/container/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, DEPTH_BYTES = 32, TURNED_DEPTH = 16, QUEUE_MAX = 1 << 10, PIECE = 16 };
enum { NO_SWIZZLE = 0, SWIZZLE_128 = 1 };

static kw_emu_group *group_of(const kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    return &m->group[self->thread / KW_EMU_GROUP];
}

/* kw_emu_come() said where. true for the last of the four waves' threads to come; for the others when the last has done what is to be done. */
static bool meet_group(kw_emu_thread *self, kw_emu_collective joint) {
    kw_emu_machine *m = self->machine;
    int first = self->thread / KW_EMU_GROUP * KW_EMU_GROUP;
    kw_emu_group *group = group_of(self);
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    fiber->joint = joint;
    fiber->state = KW_EMU_IN_GROUP;
    if (++group->waiting < KW_EMU_GROUP) {
        kw_emu_set_ready(m, self->thread, false);
        kw_emu_yield(m);
        return false;
    }
    kw_emu_report_diverged(m, first, KW_EMU_GROUP);
    for (int t = first; t < first + KW_EMU_GROUP; t++) {
        m->fiber[t].state = KW_EMU_RUNS;
        kw_emu_set_ready(m, t, true);
    }
    group->waiting = 0;
    return true;
}

/* --- descriptors --- */

/* Bytes of shared memory. Depth contiguous: `leading` from a piece of 16 bytes along the depth to the next, without swizzle; `stride`
 * from 8 rows to the next 8. Rows contiguous, with the swizzle: `leading` from 64 rows to the next 64, `stride` from 8 depths to the
 * next 8. */
typedef struct operand {
    int32_t start, leading, stride;
    int swizzle, base, turned;
} operand;

static operand read_matrix_descriptor(unsigned long long bits, int turned) {
    return (operand){.start = (int32_t)(bits & 0x3fff) << 4,
                     .leading = (int32_t)(bits >> 16 & 0x3fff) << 4,
                     .stride = (int32_t)(bits >> 32 & 0x3fff) << 4,
                     .base = (int)(bits >> 49 & 7),
                     .swizzle = (int)(bits >> 62),
                     .turned = turned};
}

/* Byte of shared memory where a piece of 16 bytes lies: number 0 or 1 of a row's 16 elements. With the swizzle a row's depth is
 * contiguous in 128 bytes, and bits 4-6 of the address are combined with bits 7-9; without it, 8 rows of a piece are contiguous. Turned:
 * the 8 rows from `row` on at depth `piece`, of 64 rows that are contiguous in 128 bytes. */
static int32_t piece_at(const operand *o, int row, int piece) {
    if (o->turned) {
        int32_t byte = o->start + row / 64 * o->leading + piece / 8 * o->stride + piece % 8 * 128 + row % 64 * 2;
        return byte ^ (byte >> 7 & 7) << 4;
    }
    if (o->swizzle == NO_SWIZZLE) {
        return o->start + row / 8 * o->stride + piece * o->leading + row % 8 * PIECE;
    }
    int32_t byte = o->start + row / 8 * o->stride + row % 8 * 128 + piece * PIECE;
    return byte ^ (byte >> 7 & 7) << 4;
}

/* Piece number i of 2 rows pieces. */
static int32_t piece_of(const operand *o, int i) {
    return o->turned ? piece_at(o, i / TURNED_DEPTH * 8, i % TURNED_DEPTH) : piece_at(o, i / 2, i % 2);
}

/* Of the first thread of each of the four waves: all must know of what is read. */
static void begin_reads(kw_emu_thread *self, const operand *o, int rows, void *const *frame) {
    const kw_emu_machine *m = self->machine;
    for (int i = 0; i < 2 * rows; i++) {
        kw_emu_engine_begins(self, piece_of(o, i), PIECE, false, frame);
    }
    for (int w = 1; w < KW_EMU_GROUP >> m->run->wave_shift; w++) {
        int thread = self->thread + (w << m->run->wave_shift);
        kw_emu_thread other = *self;
        other.thread = thread;
        for (int i = 0, all = !m->run->checks || kw_emu_knows_as_much(m, thread, self->thread); i < 2 * rows && !all; i++) {
            kw_emu_engine_reads(&other, piece_of(o, i), PIECE, frame);
        }
    }
}

static void end_reads(kw_emu_machine *m, int thread, const operand *o, int rows) {
    for (int i = 0; i < 2 * rows && m->run->checks; i++) {
        kw_emu_engine_read(m, thread, piece_of(o, i), PIECE);
    }
}

/* --- the product --- */

typedef float floats __attribute__((vector_size(32), may_alias));

static int bytes_of(int type) {
    return type == FP8 || type == BF8 ? 1 : type == TF32 ? 4 : 2;
}

static float element_at(const unsigned char *from, int type) {
    uint32_t bits = 0;
    memcpy(&bits, from, (size_t)bytes_of(type));
    return kw_emu_element(type, bits);
}

/* Elements of rows r as to[r * row + k * deep]. */
static void gather_operand(const kw_emu_machine *m, const operand *o, int type, int rows, float *to, int row, int deep) {
    int bytes = bytes_of(type), each = PIECE / bytes;
    for (int i = 0; i < 2 * rows; i++) {
        const unsigned char *from = (const unsigned char *)m->lds + piece_of(o, i);
        for (int e = 0; e < each; e++) {
            int r = o->turned ? i / TURNED_DEPTH * 8 + e : i / 2, k = o->turned ? i % TURNED_DEPTH : i % 2 * each + e;
            to[r * row + k * deep] = element_at(from + e * bytes, type);
        }
    }
}

static bool is_picked(const kw_emu_inst *inst) {
    return inst->kind == KW_EMU_WGMMA_PICKED;
}

/* The first operand of tf32 from the lanes' words: rows 8 apart, then four depths on. */
static void gather_picked(const kw_emu_product *p, float *to, int depth) {
    for (int lane = 0; lane < KW_EMU_GROUP; lane++) {
        for (int i = 0; i < 4; i++) {
            int row = lane / 32 * 16 + lane % 32 / 4 + i % 2 * 8, k = lane % 4 + i / 2 * 4;
            to[row * depth + k] = kw_emu_element(p->inst->type, p->picked[lane][i]);
        }
    }
}

/* Place of sum e of a lane of the four waves, in 64 rows of n. */
static int sum_at(int lane, int e, int n) {
    int row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (e / 2 % 2), col = 8 * (e / 4) + 2 * (lane % 4) + e % 2;
    return row * n + col;
}

static void multiply_accumulate(float *c, const float *a, const float *b, int n, int depth) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < n; j += 8) {
            floats sum = *(const floats *)(c + i * n + j);
            for (int k = 0; k < depth; k++) {
                sum += a[i * depth + k] * *(const floats *)(b + k * n + j);
            }
            *(floats *)(c + i * n + j) = sum;
        }
    }
}

/* Bytes of floating point: the products and the sum so far are cut 13 bits below the highest of the largest of them, then added, as an H200
 * was seen to do. */
static void add_cut(float *c, const float *a, const float *b, int n, int depth) {
    enum { BITS = 13 };
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < n; j++) {
            float *at = c + i * n + j, largest = fabsf(*at), sum;
            int exponent;
            for (int k = 0; k < depth; k++) {
                largest = fmaxf(largest, fabsf(a[i * depth + k] * b[k * n + j]));
            }
            frexpf(largest, &exponent);
            float up = ldexpf(1, BITS + 1 - exponent);
            sum = truncf(*at * up);
            for (int k = 0; k < depth; k++) {
                sum += truncf(a[i * depth + k] * b[k * n + j] * up);
            }
            *at = sum / up;
        }
    }
}

/* Registers that an instruction adds to belong to it until it is waited for. */
static uint64_t sums_digest(const kw_emu_product *p) {
    uint64_t digest = 0;
    for (int lane = 0; lane < KW_EMU_GROUP; lane++) {
        for (int e = 0; e < p->inst->n / 2; e += 4) {
            uint64_t words[2];
            memcpy(words, p->acc[lane] + e, sizeof words);
            digest += words[0] ^ words[1] << 1;
        }
    }
    return digest;
}

static void check_sums(kw_emu_machine *m, const kw_emu_product *p, int thread) {
    if (p->leads && sums_digest(p) != p->digest) {
        char line[80];
        kw_emu_line(m->run->object, p->place, line);
        kw_emu_fault(m, "missing wait in block %lld: the sums of threads %d-%d change while a kw_wgmma adds to them, %s",
                     (long long)m->block, thread, thread + KW_EMU_GROUP - 1, line);
    }
}

static void complete_product(kw_emu_machine *m, const kw_emu_product *p, int thread) {
    float *a = m->tile.a, *b = m->tile.b, *c = m->tile.c; /* a fiber's stack is small */
    operand first = read_matrix_descriptor(p->a, p->inst->turned_a), second = read_matrix_descriptor(p->b, p->inst->turned_b);
    int n = p->inst->n, depth = DEPTH_BYTES / bytes_of(p->inst->type);
    if (is_picked(p->inst)) {
        gather_picked(p, a, depth);
    } else {
        gather_operand(m, &first, p->inst->type, ROWS, a, depth, 1);
        end_reads(m, thread, &first, ROWS);
    }
    gather_operand(m, &second, p->inst->type, n, b, 1, n);
    for (int lane = 0; lane < KW_EMU_GROUP; lane++) {
        for (int e = 0; e < n / 2; e++) {
            c[sum_at(lane, e, n)] = p->begins ? 0 : p->acc[lane][e];
        }
    }
    (bytes_of(p->inst->type) == 1 ? add_cut : multiply_accumulate)(c, a, b, n, depth);
    for (int lane = 0; lane < KW_EMU_GROUP; lane++) {
        for (int e = 0; e < n / 2; e++) {
            p->acc[lane][e] = c[sum_at(lane, e, n)];
        }
    }
    end_reads(m, thread, &second, n);
}

/* --- the calls --- */

static bool reserve_products(kw_emu_group *group) {
    return group->count < QUEUE_MAX && KW_ARRAY_RESERVE(group->queue, group->room, (size_t)group->count + 1);
}

/* NULL, or the rule that a product breaks. */
static const char *product_rejection(kw_emu_group *group, const kw_emu_inst *inst) {
    bool types = (inst->type >= BF16 && inst->type <= BF8) || inst->type == TF32,
         columns = inst->n % 8 == 0 && inst->n >= 8 && inst->n <= 256;
    if (inst->m != ROWS || !types || !columns || inst->k * bytes_of(inst->type) != DEPTH_BYTES) {
        return "there is no such instruction";
    }
    if (bytes_of(inst->type) != 2 && (inst->turned_a || inst->turned_b)) {
        return "all but 16-bit elements are multiplied where the depth is contiguous";
    }
    bool picked = is_picked(inst);
    if (picked && inst->type != TF32) {
        return "from registers tf32 alone is played";
    }
    for (int lane = 1; lane < KW_EMU_GROUP; lane++) {
        if ((!picked && group->a[lane] != group->a[0]) || group->b[lane] != group->b[0]) {
            return "lanes have different descriptors";
        }
    }
    operand a = read_matrix_descriptor(picked ? group->b[0] : group->a[0], inst->turned_a),
            b = read_matrix_descriptor(group->b[0], inst->turned_b);
    if (a.swizzle > SWIZZLE_128 || b.swizzle > SWIZZLE_128 || a.base || b.base) {
        return "only 128-byte swizzle or none, and no base offset, are played";
    }
    if ((a.turned && a.swizzle != SWIZZLE_128) || (b.turned && b.swizzle != SWIZZLE_128)) {
        return "contiguous rows are played with the 128-byte swizzle only";
    }
    return !group->fenced            ? "no kw_wgmma_fence since the last group"
           : reserve_products(group) ? NULL
                                     : "more are under way than can be kept";
}

void kw_emu_wgmma(kw_emu_thread *self, const kw_emu_inst *inst, float *acc, unsigned long long a, unsigned long long b, int add) {
    kw_emu_machine *m = self->machine;
    kw_emu_group *group = group_of(self);
    int lane = self->thread % KW_EMU_GROUP;
    group->a[lane] = a;
    group->b[lane] = b;
    group->acc[lane] = acc;
    kw_emu_come(self, __builtin_frame_address(0));
    if (!meet_group(self, KW_EMU_GROUP_MATRIX)) {
        return;
    }
    const char *rule = product_rejection(group, inst);
    if (rule) {
        char line[80];
        kw_emu_line(m->run->object, __builtin_return_address(0), line);
        kw_emu_fault(m, "kw_wgmma in block %lld, %s: %s", (long long)m->block, line, rule);
        return;
    }
    kw_emu_product *p = &group->queue[group->count];
    *p = (kw_emu_product){.inst = inst, .a = a, .b = b, .commit = group->commits, .begins = !add};
    memcpy(p->acc, group->acc, sizeof p->acc);
    p->place = __builtin_return_address(0);
    p->leads = true;
    for (int i = 0; i < group->count && p->leads; i++) {
        p->leads = group->queue[i].acc[0] != p->acc[0];
    }
    p->digest = p->leads ? sums_digest(p) : 0;
    operand first = read_matrix_descriptor(a, inst->turned_a), second = read_matrix_descriptor(b, inst->turned_b);
    kw_emu_thread leader = *self; /* readings count as the first thread's, whoever came last */
    leader.thread = self->thread - lane;
    if (is_picked(inst)) {
        for (int i = 0; i < KW_EMU_GROUP; i++) {
            p->picked[i] = (const unsigned *)(uintptr_t)group->a[i];
        }
    } else {
        begin_reads(&leader, &first, ROWS, __builtin_frame_address(0));
    }
    begin_reads(&leader, &second, inst->n, __builtin_frame_address(0));
    group->count++;
}

void kw_emu_wgmma_step(kw_emu_thread *self, int commits) {
    kw_emu_group *group = group_of(self);
    kw_emu_come(self, __builtin_frame_address(0));
    if (meet_group(self, commits ? KW_EMU_GROUP_COMMIT : KW_EMU_GROUP_FENCE)) {
        group->commits += (uint32_t)commits;
        group->fenced = !commits;
        group->open = group->open || !commits;
    }
}

void kw_emu_wgmma_wait(kw_emu_thread *self, int groups) {
    kw_emu_machine *m = self->machine;
    kw_emu_group *group = group_of(self);
    int first = self->thread / KW_EMU_GROUP * KW_EMU_GROUP, done = 0;
    kw_emu_come(self, __builtin_frame_address(0));
    if (!meet_group(self, KW_EMU_GROUP_WAIT)) {
        return;
    }
    for (; done < group->count && (int64_t)group->queue[done].commit < (int64_t)group->commits - groups; done++) {
        check_sums(m, &group->queue[done], first);
        complete_product(m, &group->queue[done], first);
    }
    group->count -= done;
    group->open = group->count > 0;
    memmove(group->queue, group->queue + done, (size_t)group->count * sizeof *group->queue);
    for (int w = 0; w < KW_EMU_GROUP >> m->run->wave_shift; w++) {
        kw_emu_order_wave(m, (first >> m->run->wave_shift) + w);
    }
}

/* --- registers --- */

enum { REGISTERS = 65536, REGISTERS_LEAST = 24, REGISTERS_MOST = 256, REGISTERS_EACH = 8 };

/* Four waves go on with so many registers a thread, when what the others left is enough. */
static void deal_registers(kw_emu_machine *m, int number, int32_t at_launch) {
    kw_emu_group *group = &m->group[number];
    int32_t left = 0, groups = (m->run->threads + KW_EMU_GROUP - 1) / KW_EMU_GROUP;
    for (int g = 0; g < groups; g++) {
        left += at_launch - (m->group[g].registers ? m->group[g].registers : at_launch);
    }
    if (!group->wanted || group->wanted - group->registers > left) {
        return;
    }
    group->registers = group->wanted;
    group->wanted = 0;
    for (int t = number * KW_EMU_GROUP; t < (number + 1) * KW_EMU_GROUP; t++) {
        m->fiber[t].state = KW_EMU_RUNS;
        kw_emu_set_ready(m, t, true);
    }
}

/* A block begins with as many as its bound lets each thread have, which is how ptxas compiles it. */
void kw_emu_registers(kw_emu_thread *self, int count, int takes, int blocks) {
    kw_emu_machine *m = self->machine;
    kw_emu_group *group = group_of(self);
    int number = self->thread / KW_EMU_GROUP;
    int32_t at_launch = REGISTERS / (m->run->threads * (blocks > 1 ? blocks : 1)) / REGISTERS_EACH * REGISTERS_EACH;
    at_launch = at_launch > REGISTERS_MOST ? REGISTERS_MOST : at_launch;
    kw_emu_come(self, __builtin_frame_address(0));
    if (!meet_group(self, takes ? KW_EMU_GROUP_TAKE : KW_EMU_GROUP_GIVE)) {
        return;
    }
    group->registers = group->registers ? group->registers : at_launch;
    const char *rule = count < REGISTERS_LEAST || count > REGISTERS_MOST || count % REGISTERS_EACH ? "counts are 24 to 256, multiples of 8"
                       : takes && count < group->registers                                         ? "takes fewer than there are"
                       : !takes && count > group->registers                                        ? "gives fewer than none"
                                                                                                   : NULL;
    if (rule) {
        char line[80];
        kw_emu_line(m->run->object, __builtin_return_address(0), line);
        kw_emu_fault(m, "kw_registers_%s in block %lld, %s: %d of %d: %s", takes ? "take" : "give", (long long)m->block, line, count,
                     group->registers, rule);
        return;
    }
    group->wanted = count;
    for (int t = number * KW_EMU_GROUP; t < (number + 1) * KW_EMU_GROUP; t++) {
        m->fiber[t].state = KW_EMU_AT_REGISTERS;
        kw_emu_set_ready(m, t, false);
    }
    deal_registers(m, number, at_launch);
    for (int g = 0; g < KW_EMU_GROUPS_MAX && !group->wanted; g++) { /* what it left may be enough for others */
        deal_registers(m, g, at_launch);
    }
    if (group->wanted) {
        kw_emu_yield(m);
    }
}

void kw_emu_group_begin(kw_emu_machine *m) {
    for (int g = 0; g < KW_EMU_GROUPS_MAX; g++) {
        m->group[g].waiting = m->group[g].count = 0;
        m->group[g].commits = 0;
        m->group[g].fenced = m->group[g].open = false;
        m->group[g].registers = m->group[g].wanted = 0;
    }
}

void kw_emu_group_left(kw_emu_machine *m) {
    for (int g = 0; g < KW_EMU_GROUPS_MAX; g++) {
        if (m->group[g].count) {
            kw_emu_fault(m, "missing wait in block %lld: %d kw_wgmma of threads %d-%d are not waited for", (long long)m->block,
                         m->group[g].count, g * KW_EMU_GROUP, g * KW_EMU_GROUP + KW_EMU_GROUP - 1);
        }
    }
}
