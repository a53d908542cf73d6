# list.cmake: every kernel family, one line each, in the order of enumeration, compiled-in ones last. The build takes from here the table
# kw_family_table, the C files, the rule files that are compiled in, and the texts of kernels.
#
# kw_family(NAME HOST [KERNEL_FILE ...]): NAME as configs say it, conv.direct: its struct is kw_family_conv_direct in src/families/HOST, its
# rules are rules/families/NAME.lua. The files of kernels/ that only its kernel has stand with the first family that uses them; what several
# kernels share stands in KW_SHARED_KERNEL_FILES, what several families share on the host side in KW_SHARED_HOST_FILES.
set(KW_SHARED_KERNEL_FILES
    prelude/kernel_params.h prelude/kernel_abi.h prelude/row_groups.h prelude/joined.h prelude/bias_gradient.h prelude/cpu.h prelude/epilogue_cpu.h prelude/sums_cpu.h prelude/tiles.h
    prelude/tiles_played.h
    cpu/lib/sizes.h cpu/lib/apart.h cpu/lib/bias_gradient.h cpu/lib/permute.h cpu/lib/dense.h cpu/lib/register_tile.h cpu/lib/amx_sizes.h cpu/lib/amx_tile.h cpu/lib/tile.h cpu/lib/reorder.h cpu/ahead/ahead.h cpu/ahead/call.h
    prelude/gpu.h prelude/epilogue_gpu.h prelude/gpu_ptx.h prelude/gpu_amd.h prelude/gpu_emu.h prelude/emu_abi.h
    gpu/lib/access.h gpu/lib/align.h gpu/lib/bias_gradient.h gpu/lib/epilogue.h gpu/lib/parts.h gpu/lib/resources.h gpu/lib/slices.h gpu/lib/tile.h
    gpu/lib/turn.h gpu/lib/turn_square.h gpu/lib/work.h gpu/lib/work_params.h
    gpu/matrix/fragment.h gpu/matrix/groups.h gpu/matrix/mma_amd.h gpu/matrix/mma_emu.h gpu/matrix/mma_ptx.h gpu/matrix/wgmma.h
    gpu/pipeline/bulk.h gpu/pipeline/cluster.h gpu/pipeline/finish.h gpu/pipeline/gather.h gpu/pipeline/overlap.h gpu/pipeline/overlap_border.h
    gpu/pipeline/overlap_bytes.h gpu/pipeline/overlap_first.h gpu/pipeline/overlap_layout.h gpu/pipeline/overlap_picked.h gpu/pipeline/overlap_store.h gpu/pipeline/pipeline.h gpu/pipeline/steps.h
    gpu/peak/args.h gpu/peak/peak.c)
set(KW_SHARED_HOST_FILES
    epilogue_text.c source.c table.c
    cpu/ahead.c cpu/cpu_rules.c cpu/direct/direct_cut.c cpu/grouped/grouped_launch.c cpu/grouped/grouped_rules.c cpu/reorder.c cpu/tailor.c cpu/gemm/planes.c cpu/grouped/grouped_emit.c cpu/emit/tile.c
    gpu/defines.c gpu/turned.c gpu/direct/direct_rules.c gpu/mma/gemm_rules.c gpu/mma/igemm_rules.c gpu/mma/border_maps.c gpu/mma/image_maps.c gpu/mma/plane_maps.c gpu/mma/mma.c gpu/mma/mma_launch.c gpu/mma/mma_tailor.c
    gpu/mma/mma_resources.c gpu/mma/mma_rules.c gpu/peak/peak.c)

function(kw_family name host)
    list(APPEND KW_FAMILY_NAMES ${name})
    list(APPEND KW_FAMILY_HOSTS ${host})
    list(APPEND KW_FAMILY_KERNELS ${ARGN})
    return(PROPAGATE KW_FAMILY_NAMES KW_FAMILY_HOSTS KW_FAMILY_KERNELS)
endfunction()

kw_family(conv.direct cpu/direct/conv_direct.c cpu/direct/args.h cpu/direct/direct_amx.h cpu/direct/direct_columns.h cpu/direct/direct_edges.h cpu/direct/direct_edges_sum.h cpu/direct/direct_intervals.h cpu/direct/direct_pack.h cpu/direct/direct_some.h cpu/direct/direct_sum.h cpu/direct/direct_sweep.h cpu/direct/direct_tensors.h cpu/direct/direct_walks.h cpu/direct/direct.c)
kw_family(conv.any_groups cpu/direct/conv_any_groups.c cpu/lib/own_lanes.h)
kw_family(conv.interleaved cpu/direct/conv_interleaved.c cpu/lib/interleave.h cpu/direct/direct_ways.h)
kw_family(conv.pointwise cpu/gemm/conv_pointwise.c cpu/lib/zip.h cpu/gemm/planes.h)
kw_family(conv.direct_1st cpu/direct/conv_direct_1st.c cpu/gemm/planes_taps.h cpu/gemm/first.c)
kw_family(conv.gemm_col2im cpu/gemm/conv_gemm_col2im.c cpu/col2im/args.h cpu/col2im/col2im.c)
kw_family(gemm.tiled cpu/gemm/gemm_tiled.c cpu/gemm/args.h cpu/gemm/gemm.c)
kw_family(gemm.dot cpu/gemm/gemm_dot.c cpu/dot/args.h cpu/dot/dot.c)
kw_family(conv.depthwise cpu/grouped/conv_grouped.c cpu/grouped/args.h cpu/grouped/grouped.h cpu/grouped/grouped_indirection.h cpu/grouped/grouped_result.h cpu/grouped/grouped.c)
kw_family(conv.depthwise_planes cpu/depthwise/conv_depthwise_planes.c cpu/planes/args.h cpu/planes/planes.c cpu/lib/plane_steps.h)
kw_family(conv.depthwise_rows cpu/depthwise/conv_depthwise_rows.c cpu/rows/args.h cpu/rows/rows.c)
kw_family(conv.depthwise_lines cpu/depthwise/conv_depthwise_lines.c cpu/lines/args.h cpu/lines/lines_bytes.h cpu/lines/lines_copy.h cpu/lines/lines.c)
kw_family(conv.depthwise_lines_weight cpu/depthwise/conv_depthwise_lines_weight.c cpu/lines/lines_weight.c)
kw_family(conv.depthwise_pixels_weight cpu/depthwise/conv_depthwise_pixels_weight.c cpu/pixels/args.h cpu/pixels/pixels_weight.c)
kw_family(conv.merged cpu/grouped/conv_grouped.c)
kw_family(conv.depthwise_weight cpu/grouped/conv_grouped.c cpu/grouped/grouped_weight.c)
kw_family(conv.merged_weight cpu/grouped/conv_grouped.c)
kw_family(conv.any_merged cpu/grouped/conv_grouped.c cpu/grouped/grouped_any.h)
kw_family(conv.any_merged_weight cpu/grouped/conv_grouped.c)
kw_family(conv.direct_bwd_weight cpu/bwd_weight/conv_direct_bwd_weight.c cpu/bwd_weight/args.h cpu/bwd_weight/bwd_weight_tile.h cpu/bwd_weight/bwd_weight_amx.h cpu/bwd_weight/bwd_weight_boxes.h cpu/bwd_weight/bwd_weight_copy.h cpu/bwd_weight/bwd_weight_pixels.h cpu/bwd_weight/bwd_weight_store.h cpu/bwd_weight/bwd_weight.c)
kw_family(conv.any_groups_weight cpu/direct/conv_any_groups.c)
kw_family(conv.interleaved_weight cpu/bwd_weight/conv_interleaved_weight.c cpu/bwd_weight/bwd_weight_ways.h)
kw_family(conv.depthwise_block gpu/depthwise/conv_depthwise_block.c gpu/depthwise/args.h gpu/depthwise/depthwise.c gpu/depthwise/weight.h gpu/depthwise/walk.h)
kw_family(conv.direct_block gpu/direct/conv_direct_block.c gpu/direct/args.h gpu/direct/direct.c gpu/direct/dense.h gpu/direct/grouped.h gpu/direct/brought.h gpu/direct/weight.h gpu/direct/planes.h gpu/direct/lying.h gpu/direct/copied.h gpu/direct/staying.h)
kw_family(conv.direct_1st_block gpu/direct_1st/conv_direct_1st_block.c gpu/direct_1st/args.h gpu/direct_1st/direct_1st.c gpu/direct_1st/weight.h)
kw_family(conv.point_block gpu/point/conv_point_block.c gpu/point/args.h gpu/point/point.c)
kw_family(conv.igemm gpu/mma/conv_igemm.c gpu/igemm/args.h gpu/igemm/backward.h gpu/igemm/border.h gpu/igemm/feed.h gpu/igemm/operands.h gpu/igemm/planes.h gpu/igemm/igemm.c)
kw_family(gemm.mma gpu/mma/gemm_mma.c gpu/gemm/args.h gpu/gemm/feed.h gpu/gemm/gemm.c)
kw_family(gemm.stream gpu/stream/gemm_stream.c gpu/stream/args.h gpu/stream/stream.c)
kw_family(conv.reference_gpu gpu/reference/reference_gpu.c gpu/reference/args.h gpu/reference/reference.c)
kw_family(gemm.reference_gpu gpu/reference/reference_gpu.c)
kw_family(conv.reference cpu/reference/reference.c)
kw_family(gemm.reference cpu/reference/reference.c)
