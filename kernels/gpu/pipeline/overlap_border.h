/* overlap_border.h: how gpu/pipeline/overlap.h brings and multiplies where many taps of a convolution read the same pixels (KW_BORDER). Stages hold
 * the second operand alone. Behind them lie kw_border_places() places for the pixels that these taps of a tile read of a block of channels
 * (gpu/igemm/border.h), with barriers of their own: they are brought before the first of these steps, and given back behind the last. wgmma reads rows from
 * any of them on: the swizzle goes by the address, and a descriptor's start need only be a multiple of 128 bytes (seen on an H200).
 *
 * Where the second operand stays (a.params.places), step s of each tile is stage s, brought once. */
#ifndef KW_OVERLAP_BORDER_H
#define KW_OVERLAP_BORDER_H

KW_DEVICE char *kw_border_at(char *lds, const kw_work *work, int place) { return lds + KW_BORDERS_AT + place * kw_facts_of(work)->bytes; }
KW_DEVICE char *kw_border_full_at(char *lds, int place) { return lds + KW_BARRIERS_AT + (KW_STAGES + place) * KW_STAGE_BARRIER_BYTES; }
KW_DEVICE char *kw_border_empty_at(char *lds, int place) { return kw_border_full_at(lds, place) + 8; }

KW_DEVICE void kw_border_ring_step(kw_ring *r, int places) {
    int over = r->stage + 1 == places;
    r->parity ^= over;
    r->stage = over ? 0 : r->stage + 1;
}

KW_DEVICE void kw_border_ring_next(kw_ring *r, int borders, const kw_work *work) {
    int places = kw_facts_of(work)->places, at = r->stage + borders;
    if (borders == 1) {
        kw_border_ring_step(r, places);
        return;
    }
    r->parity ^= at / places & 1;
    r->stage = at % places;
}

/* Of a part of a tile's depth. */
KW_DEVICE int kw_border_count(const kw_work *work) {
    int steps = kw_facts_of(work)->steps;
    if (work->end == work->first) return 0;
    return work->divided ? (work->end - 1) / steps - work->first / steps + 1 : kw_facts_of(work)->borders;
}

/* By one thread. What each step asks for is in registers: it takes as long to ask for a step as a narrow tile to multiply it. */
KW_DEVICE void kw_tiles_bring(const kw_gpu_args *a, char *lds, kw_work work, int some) {
    (void)some;
    kw_feed feed;
    kw_ring at = {0, 0}, border = {0, 0};
    int second = 1;
    for (int unit = (int)kw_block(); kw_work_start(&work, a, lds, unit); unit += (int)kw_blocks()) {
        int places = kw_facts_of(&work)->places, bytes = kw_facts_of(&work)->bytes;
        kw_feed_start(&feed, &work, work.first);
        for (int step = work.first; step < work.end; step++) {
            if (step == work.first || feed.tap == 0) {
                kw_mbar_wait(kw_border_empty_at(lds, border.stage), border.parity ^ 1);
                kw_mbar_expect(kw_border_full_at(lds, border.stage), bytes);
                kw_border_bring(&feed, a, &work, kw_border_at(lds, &work, border.stage), kw_border_full_at(lds, border.stage));
                kw_border_ring_step(&border, places);
            }
            if (second) {
                kw_mbar_wait(kw_empty_at(lds, at.stage), at.parity ^ 1);
                kw_mbar_expect(kw_full_at(lds, at.stage), KW_STAGE_BYTES);
                kw_feed_bring(&feed, a, &work, lds + at.stage * KW_STAGE_BYTES, kw_full_at(lds, at.stage));
                kw_ring_step(&at);
            }
            kw_feed_next(&feed);
        }
        if (a->params.places) second = 0;
    }
}

/* Products of a step: of all channels of a tap, of the first half, or of the first half of two taps. */
enum { KW_BORDER_WHOLE, KW_BORDER_HALF, KW_BORDER_TWO };

/* Asks for them. rows: the first that the tap reads, next: that a second tap does; add 0: the sums begin with them. */
KW_DEVICE void kw_border_multiply(kw_sums *sums, const char *rows, const char *next, const char *second, const int form, const int add) {
    const int half = KW_TILE_K / KW_INST_K / 2;
    kw_u64 a = kw_step_operand(rows, 0), other = kw_step_operand(next, 0), b = kw_step_operand(second, KW_B_BY_ROWS);
    kw_wgmma_fence();
    KW_UNROLL
    for (int kk = 0; kk < (form == KW_BORDER_HALF ? half : 2 * half); kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++) {
            kw_u64 from = form == KW_BORDER_TWO && kk >= half ? kw_step_operand_at(other, 0, i * KW_INST_M, kk - half)
                                                              : kw_step_operand_at(a, 0, i * KW_INST_M, kk);
            kw_wgmma_sum(&sums->at[i], i, from, kw_step_operand_at(b, KW_B_BY_ROWS, 0, kk), add || kk > 0);
        }
    }
    kw_wgmma_commit();
}

KW_DEVICE void kw_border_give(char *lds, int place) {
    if (kw_lane() == 0) kw_mbar_arrive(kw_border_empty_at(lds, place));
}

/* Where a group is in a tile. */
typedef struct kw_border_step {
    int tap, joined, block; /* the step's first tap, and how many it has; of channels */
    int shift, next;        /* of its taps, bytes from the tile's first row; next below 0: it has one */
    const char *rows;       /* the group's first */
} kw_border_step;

KW_DEVICE void kw_border_step_find(kw_border_step *s, const kw_work *work) {
    const kw_facts *facts = kw_facts_of(work);
    s->shift = facts->shift[s->tap];
    s->next = s->joined > 1 && s->tap + 1 < facts->taps ? facts->shift[s->tap + 1] : -1;
}

/* What is given back when a step's products are done: a stage, a place for pixels; -1: none. */
typedef struct kw_border_gift {
    int stage, place;
} kw_border_gift;

/* Waits for a step and asks for its products. add 0: the sums begin with them. */
KW_DEVICE void kw_border_step_multiply(kw_sums *sums, char *lds, const kw_ring *at, const kw_border_step *s, int kept, int halved,
                                       const int add) {
    kw_mbar_wait(kw_full_at(lds, at->stage), kept ? 0 : at->parity);
    const char *rows = s->rows + s->shift, *next = s->rows + s->next, *second = lds + at->stage * KW_STAGE_BYTES;
    if (s->block != halved) /* not inside: a branch between products of a group makes groups of them, which are waited for */
        kw_border_multiply(sums, rows, rows, second, KW_BORDER_WHOLE, add);
    else if (s->next >= 0)
        kw_border_multiply(sums, rows, next, second, KW_BORDER_TWO, add);
    else
        kw_border_multiply(sums, rows, rows, second, KW_BORDER_HALF, add);
}

/* Whose rows are waited for, where a border begins. */
KW_DEVICE void kw_border_step_start(kw_border_step *s, char *lds, const kw_work *work, const kw_ring *border, int first_row) {
    kw_mbar_wait(kw_border_full_at(lds, border->stage), border->parity);
    s->rows = kw_border_at(lds, work, border->stage) + first_row * KW_SLAB_ROW_BYTES;
}

/* A step on; returns what the one before had. */
KW_DEVICE kw_border_gift kw_border_step_next(kw_border_step *s, kw_ring *at, kw_ring *border, int kept, const kw_work *work, int taps,
                                             int last) {
    kw_border_gift gift = {kept ? -1 : at->stage, -1};
    s->tap += s->joined;
    if (s->tap >= taps || last) {
        s->tap = 0;
        s->block = s->block + 1 == kw_facts_of(work)->blocks ? 0 : s->block + 1;
        gift.place = border->stage;
        kw_border_ring_step(border, kw_facts_of(work)->places);
    }
    kw_border_step_find(s, work);
    kw_ring_step(at);
    return gift;
}

KW_DEVICE void kw_border_gift_give(const kw_border_gift *gift, char *lds) {
    if (gift->stage >= 0) kw_stage_give(lds, gift->stage);
    if (gift->place >= 0) kw_border_give(lds, gift->place);
}

/* As kw_tile_multiply() of gpu/pipeline/overlap.h. The products of two steps are under way while a third is waited for, since narrow tiles take less
 * time than it takes to ask for the next; and what that takes is worked out before. */
KW_DEVICE void kw_border_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, kw_ring *border, int first_row, int group, int more,
                                       const kw_gpu_args *a, const kw_work *work) {
    int kept = a->params.places != 0, count = work->end - work->first, taps = kw_facts_of(work)->taps, halved = kw_facts_of(work)->halved;
    kw_border_gift gifts[2] = {{-1, -1}, {-1, -1}}; /* of the steps before, the last one first */
    kw_border_step s;
    s.joined = kw_facts_of(work)->joined;
    s.block = work->first ? work->first / kw_facts_of(work)->steps : 0; /* the border's number yet */
    s.tap = (work->first - s.block * kw_facts_of(work)->steps) * s.joined;
    if (s.block) s.block %= kw_facts_of(work)->blocks;
    kw_border_step_find(&s, work);
    if (kept) at->stage = 0;
    kw_border_step_start(&s, lds, work, border, first_row);
    kw_border_step_multiply(sums, lds, at, &s, kept, halved, 0);
#if KW_STORES_PIXELS
    kw_wave_barrier(); /* nobody reads what the wave stored last, and the compiler would work pixels out before it multiplies */
    kw_border_pixels_put(a, lds, work, group, first_row);
#endif
    gifts[0] = kw_border_step_next(&s, at, border, kept, work, taps, count == 1);
    for (int step = 1; step < count; step++) {
        if (s.tap == 0) kw_border_step_start(&s, lds, work, border, first_row);
        kw_border_step_multiply(sums, lds, at, &s, kept, halved, 1);
        kw_border_gift next = kw_border_step_next(&s, at, border, kept, work, taps, step + 1 == count);
        kw_wgmma_wait(2);
        kw_border_gift_give(&gifts[1], lds);
        gifts[1] = gifts[0];
        gifts[0] = next;
    }
    if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
    kw_wgmma_wait(0);
    kw_border_gift_give(&gifts[1], lds);
    kw_border_gift_give(&gifts[0], lds);
    kw_sums_take(sums);
}

#endif
