/* cluster.h: streamk=cluster, for gpu/pipeline/overlap.h: the blocks of a cluster share a tile's depth, KW_SPLIT_K parts of it, and add their
 * sums.
 *
 * A block has its part's steps; with pingpong its two groups of waves take them in turns, each a part of its own. When all blocks are done,
 * the stages are free: each thread writes its sums into them, dealt out by columns, the share of a block to that block. A lane holds the same
 * elements of the tile in all parts, so it writes for its like in the other blocks, 16 bytes beside the next lane's. When all have met again,
 * each adds its share's parts in their order, so that every sum has one order whatever the machine does, and stores it. */
#ifndef KW_CLUSTER_H
#define KW_CLUSTER_H

enum { KW_SHARE_LANES = KW_MULTIPLY_THREADS / KW_WAVE_GROUPS }; /* threads that have a part */

/* Number `number` of 16 bytes of this lane's share, of a group and a part. */
KW_DEVICE char *kw_share_at(char *lds, int group, int part, int number) {
    int row = (group * KW_PARTS + part) * (KW_REPEAT_M * KW_SHARE_N / 4) + number;
    return lds + (row * KW_SHARE_LANES + kw_thread() % KW_SHARE_LANES) * 16;
}

/* To each block and group that adds, its share. */
KW_DEVICE void kw_shares_deal(char *lds, const kw_sums *sums, int part) {
    KW_UNROLL
    for (int share = 0; share < KW_SHARES; share++) {
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_M * KW_SHARE_N / 4; n++) {
            const int first = share * KW_SHARE_N + n % (KW_SHARE_N / 4) * 4;
            if (first >= KW_ACC_N) continue;
            const kw_sum *sum = &sums->at[n / (KW_SHARE_N / 4)].e[first];
            kw_u32 words[4];
            KW_UNROLL
            for (int j = 0; j < 4; j++)
                words[j] = kw_bits(sum[j]);
            kw_peer_write(kw_share_at(lds, share % KW_SHARE_GROUPS, part, n), share / KW_SHARE_GROUPS, words);
        }
    }
}

/* Behind the last column, which is not stored, there may be anything. */
KW_DEVICE void kw_shares_add(char *lds, kw_sums *sums, int group) {
    KW_UNROLL
    for (int n = 0; n < KW_REPEAT_M * KW_SHARE_N / 4; n++) {
        kw_sum *sum = &sums->at[n / (KW_SHARE_N / 4)].e[n % (KW_SHARE_N / 4) * 4];
        KW_UNROLL
        for (int part = 0; part < KW_PARTS; part++) {
            kw_b16 some = *(const kw_b16 *)kw_share_at(lds, group, part, n);
            KW_UNROLL
            for (int j = 0; j < 4; j++)
                sum[j] = part ? sum[j] + kw_from_bits(some.e[j]) : kw_from_bits(some.e[j]);
        }
    }
}

KW_DEVICE void kw_tiles_multiply(const kw_gpu_args *a, char *lds, int group) {
    kw_work work;
    kw_sums sums;
    kw_ring at = {0, 0};
    int own = KW_PINGPONG ? group : 0, first_row = KW_PINGPONG ? 0 : group * KW_GROUP_ROWS;
    kw_work_start(&work, a, lds, (int)kw_block());
    int count = (work.end - work.first + KW_OWN_STEPS - 1 - own) / KW_OWN_STEPS;
    kw_ring_next(&at, own, KW_STAGES);
    if (count > 0)
        kw_tile_multiply(&sums, lds, &at, first_row, count, group, 0, a, &work);
    else
        kw_sums_clear(&sums);
    kw_cluster_barrier(); /* nobody's stages are read any more */
    kw_shares_deal(lds, &sums, work.part * KW_WAVE_GROUPS + own);
    kw_cluster_barrier();
    if (own >= KW_SHARE_GROUPS) return;
    kw_shares_add(lds, &sums, own);
    kw_share_start(a, &work, (work.part * KW_SHARE_GROUPS + own) * (2 * KW_SHARE_N));
    kw_sums_put(a, &work, &sums, first_row);
}

/* Waves that bring have nothing to say where the others meet. */
KW_DEVICE void kw_cluster_pass(void) {
    kw_cluster_barrier();
    kw_cluster_barrier();
}

#endif
