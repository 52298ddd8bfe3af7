/* The curves that a setup reads. A profile that lacks one is refused before anything runs, and
 * --require-basis checks these and no others. */
#include "decode/cost/index_build.h"
#include "decode/cost/retrieval.h"
#include "decode/time/pipeline.h"

struct need {
    enum curve_id id;
    bool needed;
};

/* Optional curves that are read wherever the profile states the first of the two. */
static const struct {
    enum curve_id first, then;
} together[] = {
    {CURVE_GPU_PRODUCT_FIXED_FP8, CURVE_GPU_FLOPS_SHARE_FP8},
    {CURVE_GPU_PRODUCT_FIXED_INT4, CURVE_GPU_FLOPS_SHARE_INT4},
    {CURVE_GPU_EXPERTS_FIXED, CURVE_GPU_EXPERTS_FLOPS_SHARE},
    {CURVE_GPU_EXPERTS_FIXED_FP8, CURVE_GPU_EXPERTS_FLOPS_SHARE_FP8},
    {CURVE_GPU_EXPERTS_FIXED_INT4, CURVE_GPU_EXPERTS_FLOPS_SHARE_INT4},
    {CURVE_GPU_MLA_FIXED, CURVE_GPU_MLA_FLOPS_SHARE},
    {CURVE_GPU_MLA_FIXED_FP8, CURVE_GPU_MLA_FLOPS_SHARE_FP8},
    {CURVE_GPU_TOPK_FUSED, CURVE_GPU_TOPK_FUSED_ROW},
};

/* What a profile need not state, and does not. */
static bool is_left_out(const struct profile *profile, enum curve_id id)
{
    bool read = false;
    for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
        read = read || (together[i].then == id && profile_states(profile, together[i].first));
    }
    return !profile_states(profile, id) && !read &&
           (curve_kinds[id].standard > 0 || curve_kinds[id].optional);
}

static bool routes(const struct model *model)
{
    bool any = false;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        any = any || model->layers[i].routed;
    }
    return any;
}

size_t pipeline_curves(const struct setup *setup, struct pipeline_beside beside, enum curve_id *ids)
{
    const struct mechanisms *m = &setup->mechanisms;
    bool offload = mechanisms_offload(m);
    bool graph = m->launch == LAUNCH_GRAPH;
    enum dtype weights = setup->model.weights;
    bool fp8 = weights == DTYPE_FP8, kv_fp8 = setup->model.kv == DTYPE_FP8;
    bool four_bits = weights == DTYPE_INT4 || weights == DTYPE_MXFP4;
    bool latent = setup->model.kv_lora > 0 && profile_states(&setup->profile, CURVE_GPU_MLA_FIXED);
    bool fused = setup_retrieves(setup) && setup_indexes(setup) &&
                 profile_states(&setup->profile, CURVE_GPU_TOPK_FUSED);
    bool experts = routes(&setup->model);
    uint32_t gpus = setup->model.tensor_parallel;
    bool gathers = offload && m->transfer == TRANSFER_GATHER_COPY;
    bool stores = offload && m->transfer == TRANSFER_CPU_STORE;
    bool loads = offload && m->transfer == TRANSFER_SM_ZERO_COPY;
    bool streams = m->weights < 1;
    bool link = offload || streams;
    bool copies = (offload && !stores && !loads) || streams || m->retrieval_stream ||
                  (offload && m->block_span != BLOCK_UNIT);
    bool pageable =
        (offload && m->transfer == TRANSFER_PAGEABLE) || (streams && m->weights_pageable);
    bool hybrid = m->attention == ATTEND_HYBRID;
    bool pool = (offload && m->manager == MANAGER_CPU) || hybrid;
    bool trains = index_build_on_host(setup);
    bool on_node = m->pool_of == POOL_OF_NODE;
    bool thread_copies = hybrid && m->sync == SYNC_CPU;
    const struct need needs[] = {
        {CURVE_GPU_HBM_CAPACITY, true},
        {CURVE_GPU_HBM_BANDWIDTH, true},
        {CURVE_GPU_HBM_SHARE, true},
        {CURVE_GPU_CTA_BANDWIDTH, offload && m->merge},
        {CURVE_GPU_SMS, link},
        {CURVE_GPU_SM_THREADS, link},
        {CURVE_GPU_SECTOR, offload && m->manager == MANAGER_GPU},
        {CURVE_GPU_FLOPS_BF16,
         !fp8 || setup->prompt > 0 || beside.prompts || retrieval_needs_bf16(setup)},
        {CURVE_GPU_FLOPS_FP8, fp8 || retrieval_needs_fp8(setup)},
        {CURVE_GPU_FLOPS_SHARE, true},
        {CURVE_GPU_KERNEL_FLOOR, !graph},
        {CURVE_GPU_TOPK, setup_retrieves(setup) && !fused},
        {CURVE_GPU_TOPK_FUSED, fused},
        {CURVE_GPU_TOPK_FUSED_ROW, fused},
        {kernel_allreduce_figure(&setup->profile, gpus), gpus > 1},
        {CURVE_GPU_GRAPH_NODE, graph},
        {CURVE_GPU_FLAG, offload && (m->sync == SYNC_GPU || stores)},
        {CURVE_LINK_H2D, link || beside.copies},
        {CURVE_LINK_D2H, link || beside.copies},
        {CURVE_LINK_DUPLEX, link || beside.copies},
        {CURVE_LINK_COPY_LATENCY, link || beside.copies},
        {CURVE_LINK_ROUND_TRIP, loads || hybrid},
        {CURVE_LINK_ZERO_COPY, loads || hybrid},
        {CURVE_LINK_CTA_IN_FLIGHT, loads},
        {CURVE_LINK_CPU_STORE, stores},
        {CURVE_LINK_GPUS_PER_UPLINK, link || beside.copies},
        {CURVE_HOST_LAUNCH, !graph},
        {CURVE_HOST_GRAPH_LAUNCH, graph},
        {CURVE_HOST_COPY_CALL, (copies || thread_copies) && !graph},
        {CURVE_HOST_SYNC, true},
        {CURVE_HOST_DRAM_CAPACITY, setup->host_memory == 0},
        {CURVE_HOST_DRAM_BANDWIDTH, link},
        {CURVE_HOST_CORES, gathers || stores || trains || (pool && !on_node)},
        {CURVE_HOST_NODE_THREADS, pool && on_node},
        {CURVE_HOST_POOL_HANDOFF, pool},
        {CURVE_HOST_LOOKUP, offload && m->manager == MANAGER_CPU},
        {CURVE_HOST_UPDATE, offload && m->manager == MANAGER_CPU},
        {CURVE_HOST_PAGEABLE, pageable},
        {CURVE_HOST_GATHER, gathers},
        {CURVE_HOST_GATHER_SPAN, gathers},
        {CURVE_HOST_ATTENTION, hybrid},
        {CURVE_HOST_KMEANS, trains},
        {CURVE_GPU_ATTENTION_FIXED, !latent},
        {CURVE_GPU_ATTENTION_SHARE, !latent},
        {CURVE_GPU_ATTENTION_PAIR, !latent},
        {CURVE_GPU_ATTENTION_FIXED_FP8, !latent && kv_fp8},
        {CURVE_GPU_ATTENTION_SHARE_FP8, !latent && kv_fp8},
        {CURVE_GPU_ATTENTION_PAIR_FP8, !latent && kv_fp8},
        {CURVE_GPU_MLA_FIXED, latent},
        {CURVE_GPU_MLA_SHARE, latent},
        {CURVE_GPU_MLA_PAIR, latent},
        {CURVE_GPU_MLA_FLOPS_SHARE, latent},
        {CURVE_GPU_MLA_FIXED_FP8, latent && kv_fp8},
        {CURVE_GPU_MLA_SHARE_FP8, latent && kv_fp8},
        {CURVE_GPU_MLA_PAIR_FP8, latent && kv_fp8},
        {CURVE_GPU_MLA_FLOPS_SHARE_FP8, latent && kv_fp8},
        {CURVE_GPU_PRODUCT_FIXED, true},
        {CURVE_GPU_PRODUCT_SHARE, true},
        {CURVE_GPU_PRODUCT_FIXED_FP8, fp8 || retrieval_needs_fp8(setup)},
        {CURVE_GPU_PRODUCT_SHARE_FP8, fp8 || retrieval_needs_fp8(setup)},
        {CURVE_GPU_FLOPS_SHARE_FP8, fp8 || retrieval_needs_fp8(setup)},
        {CURVE_GPU_PRODUCT_FIXED_INT4, four_bits},
        {CURVE_GPU_PRODUCT_SHARE_INT4, four_bits},
        {CURVE_GPU_FLOPS_SHARE_INT4, four_bits},
        {CURVE_GPU_EXPERTS_FIXED, experts && !fp8 && !four_bits},
        {CURVE_GPU_EXPERTS_SHARE, experts && !fp8 && !four_bits},
        {CURVE_GPU_EXPERTS_FLOPS_SHARE, experts && !fp8 && !four_bits},
        {CURVE_GPU_EXPERTS_FIXED_FP8, experts && fp8},
        {CURVE_GPU_EXPERTS_SHARE_FP8, experts && fp8},
        {CURVE_GPU_EXPERTS_FLOPS_SHARE_FP8, experts && fp8},
        {CURVE_GPU_EXPERTS_FIXED_INT4, experts && four_bits},
        {CURVE_GPU_EXPERTS_SHARE_INT4, experts && four_bits},
        {CURVE_GPU_EXPERTS_FLOPS_SHARE_INT4, experts && four_bits},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (needs[i].needed && !is_left_out(&setup->profile, needs[i].id)) {
            ids[count++] = needs[i].id;
        }
    }
    return count;
}
