/* The curves that a setup reads. A profile that lacks one is refused before anything runs, and
 * --require-basis checks these and no others. */
#include "decode/cost/index_build.h"
#include "decode/cost/prompt_attention.h"
#include "decode/cost/retrieval.h"
#include "decode/time/pipeline.h"
#include "place/way.h"

/* The model's operators and its exchanges between GPUs, of a batch of one. */
static void needs_read_model(const struct setup *dry)
{
    const struct model *model = &dry->model;
    struct model_rows rows = model_rows(model, setup_queries(dry));
    rows.queries = setup_queries(dry);
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        uint64_t exchanges;
        bool repeats = layer < model->layer_count && model_layer_repeats(model, layer);
        for (int stage = 0; !repeats && stage < MODEL_STAGE_COUNT; stage++) {
            cost_row_stage(dry, layer, (enum model_stage)stage, rows, 1, 1);
        }
        cost_exchanges(dry, layer, model_rows(model, 1), &exchanges);
    }
}

/* Attention of a prompt in each layer; k-means of its keys is a product in bf16. */
static void read_prompts(const struct setup *dry)
{
    const struct model *model = &dry->model;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        struct prompt_attention work = {0};
        prompt_attention_add(&work, model, layer, 0, 1);
        kernel_prompt_attention(&dry->profile, &work);
    }
    kernel_product(&dry->profile, 1, 1, 1, DTYPE_BF16);
}

/* What prompts read, and KV that is not stored and computed again from the type of the weights. */
static void read_products(const struct setup *dry, bool prompts)
{
    if (prompts) {
        read_prompts(dry);
    }
    if (dry->mechanisms.representation != REPRESENTATION_KV) {
        kernel_product(&dry->profile, 1, 1, 1, dry->model.weights);
    }
}

/* Which curves kernels read follows from a dry run, because a profile may state one or another. */
static void read_kernels(const struct setup *setup, bool prompts, struct profile_reads *reads)
{
    struct setup dry = *setup;
    dry.profile.reads = reads;
    needs_read_model(&dry);
    read_products(&dry, prompts);
    if (setup_retrieves(&dry)) {
        retrieval_cost(&dry, 1, 1);
    }
}

/* A tier below host memory, and its ways. */
static void add_below(const struct setup *setup, enum tier_id tier, bool capacity,
                      struct profile_reads *reads)
{
    const struct tier_kind *kind = &tier_kinds[tier];
    const struct way_kind *in = &way_kinds[way_between(tier, TIER_HOST)];
    const struct way_figures *there = &in->by[BY_ENGINE],
                             *back = &way_kinds[in->back].by[BY_ENGINE];
    const enum curve_id needed[] = {there->rate, there->start, back->rate, back->start};
    const enum curve_id stated[] = {kind->read_one, kind->bandwidth};
    reads->of[kind->capacity] = capacity;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        reads->of[needed[i]] = true;
    }
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        if (stated[i] != CURVE_COUNT && profile_states(&setup->profile, stated[i])) {
            reads->of[stated[i]] = true;
        }
    }
}

static void add_machine(const struct setup *setup, struct pipeline_beside beside,
                        struct profile_reads *reads)
{
    const struct mechanisms *m = &setup->mechanisms;
    bool offload = mechanisms_offload(m);
    bool graph = m->launch == LAUNCH_GRAPH;
    bool gathers = offload && m->transfer == TRANSFER_GATHER_COPY;
    bool stores = offload && m->transfer == TRANSFER_CPU_STORE;
    bool in_place = mechanisms_attend_in_place(m);
    bool loads = offload && m->transfer == TRANSFER_SM_ZERO_COPY;
    bool streams = m->weights < 1;
    bool link = offload || streams;
    bool copies = (offload && !stores && !loads && !in_place) || streams || m->retrieval_stream ||
                  (offload && m->block_span != BLOCK_UNIT);
    bool pageable = offload && m->transfer == TRANSFER_PAGEABLE;
    bool hybrid = m->attention == ATTEND_HYBRID;
    bool by_cpu = m->attention == ATTEND_CPU;
    bool pool = (offload && m->manager == MANAGER_CPU) || hybrid || by_cpu;
    bool trains = index_build_by_cpu(setup);
    bool on_node = m->pool_of == POOL_OF_NODE;
    bool thread_copies = (hybrid && m->sync == SYNC_CPU) || by_cpu;
    const struct {
        enum curve_id id;
        bool needed;
    } machine[] = {
        {CURVE_GPU_HBM_CAPACITY, true},
        {CURVE_GPU_HBM_BANDWIDTH, true},
        {CURVE_GPU_HBM_SHARE, true},
        {CURVE_GPU_CTA_BANDWIDTH, offload && m->merge},
        {CURVE_GPU_SMS, link},
        {CURVE_GPU_SM_THREADS, link},
        {CURVE_GPU_SECTOR, offload && m->manager != MANAGER_CPU},
        {CURVE_GPU_KERNEL_FLOOR, !graph},
        {CURVE_GPU_GRAPH_NODE, graph},
        {CURVE_GPU_FLAG, offload && (m->sync == SYNC_GPU || stores)},
        {CURVE_LINK_IN, link || beside.copies},
        {CURVE_LINK_OUT, link || beside.copies},
        {CURVE_LINK_DUPLEX, link || beside.copies},
        {CURVE_LINK_COPY_LATENCY, link || beside.copies},
        {CURVE_LINK_ROUND_TRIP, loads || in_place || hybrid},
        {CURVE_LINK_ZERO_COPY, loads || in_place || hybrid},
        {CURVE_LINK_CTA_IN_FLIGHT, loads},
        {CURVE_LINK_CPU_STORE, stores},
        {CURVE_LINK_GPUS_PER_UPLINK, link || beside.copies},
        {CURVE_HOST_LAUNCH, !graph || beside.launches},
        {CURVE_HOST_GRAPH_LAUNCH, graph},
        {CURVE_HOST_COPY_CALL, (copies || thread_copies) && !graph},
        {CURVE_HOST_SYNC, true},
        {CURVE_HOST_DRAM_CAPACITY, setup->room[TIER_HOST] == 0},
        {CURVE_HOST_DRAM_BANDWIDTH, link},
        {CURVE_HOST_CORES, gathers || stores || trains || (pool && !on_node)},
        {CURVE_HOST_NODE_THREADS, pool && on_node},
        {CURVE_HOST_POOL_WAKE, pool},
        {CURVE_HOST_LOOKUP, offload && m->manager == MANAGER_CPU},
        {CURVE_HOST_UPDATE, offload && m->manager != MANAGER_GPU},
        {CURVE_HOST_PAGEABLE, pageable},
        {CURVE_HOST_GATHER, gathers},
        {CURVE_HOST_GATHER_SPAN, gathers},
        {CURVE_HOST_ATTENTION, hybrid || by_cpu},
        {CURVE_HOST_KMEANS, trains},
    };
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) {
        reads->of[machine[i].id] = machine[i].needed;
    }
    for (enum tier_id tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        bool decode = tier == TIER_DISK && mechanisms_use_disk(m);
        if (decode || beside.below[tier]) {
            add_below(setup, tier, decode || setup->room[tier] == 0, reads);
        }
    }
}

size_t pipeline_curves(const struct setup *setup, struct pipeline_beside beside, enum curve_id *ids)
{
    struct profile_reads reads = {.of = {false}};
    add_machine(setup, beside, &reads);
    read_kernels(setup, setup->prompt > 0 || beside.prompts, &reads);
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        bool left_out = !profile_states(&setup->profile, id) && curve_kinds[id].standard > 0;
        reads.of[id] = reads.of[id] && !left_out;
    }
    return profile_reads_list(&reads, ids);
}
