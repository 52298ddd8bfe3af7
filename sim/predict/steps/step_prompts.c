#include "predict/steps/step_prompts.h"

#include "core/array.h"
#include "decode/cost/cost.h"
#include "decode/cost/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct step_prompts {
    const struct setup *setup;
    uint32_t passes;
    bool one_call;  /* takes decodes, too */
    uint64_t *rows; /* [passes] of prompts, in the step under way; owned */
    struct trust trust;
};

/* Does the engine's kernel take the decodes of a step in the call of its prompts? Only over KV of
 * 16 bits that stays whole in HBM: systems that select or offload attend with kernels of their own,
 * and so do MLA and KV of fewer bits. */
static bool takes_decodes(const struct setup *setup, const struct server_path *path)
{
    const struct mechanisms *m = &setup->mechanisms;
    return path->one_call && profile_states(&setup->profile, CURVE_GPU_PROMPT_BLOCK) &&
           !mechanisms_offload(m) && !mechanisms_select(m) && setup->model.kv == DTYPE_BF16 &&
           setup->model.kv_lora == 0;
}

struct step_prompts *step_prompts_create(const struct setup *setup, const struct server_path *path,
                                         uint32_t passes, struct error *why)
{
    struct step_prompts *prompts = array_zeroed(1, sizeof *prompts, why);
    if (prompts == NULL) {
        return NULL;
    }
    prompts->setup = setup;
    prompts->passes = passes;
    prompts->one_call = takes_decodes(setup, path);
    prompts->rows = array_zeroed(passes, sizeof *prompts->rows, why);
    prompts->trust = (struct trust){.basis = BASIS_MEASURED};
    if (prompts->rows == NULL) {
        step_prompts_destroy(prompts);
        return NULL;
    }
    return prompts;
}

void step_prompts_destroy(struct step_prompts *prompts)
{
    if (prompts != NULL) {
        free(prompts->rows);
        free(prompts);
    }
}

struct trust step_prompts_trust(const struct step_prompts *prompts)
{
    return prompts->trust;
}

/* Give each chunk to the pass that has fewest rows so far. Returns the pass with most; if `work` is
 * not NULL, adds the chunks of pass `of` to it. */
static uint32_t spread_chunks(struct step_prompts *prompts, const struct step_load *load,
                              uint32_t of, uint32_t layer, struct prompt_attention *work)
{
    uint32_t fullest = 0;
    memset(prompts->rows, 0, prompts->passes * sizeof *prompts->rows);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        const struct step_chunk *chunk = &load->chunks[i];
        uint32_t pass = 0;
        for (uint32_t other = 1; other < prompts->passes; other++) {
            pass = prompts->rows[other] < prompts->rows[pass] ? other : pass;
        }
        prompts->rows[pass] += chunk->tokens;
        fullest = prompts->rows[pass] > prompts->rows[fullest] ? pass : fullest;
        if (work != NULL && pass == of) {
            prompt_attention_add(work, &prompts->setup->model, layer, chunk->start, chunk->tokens);
        }
    }
    return fullest;
}

/* Decode attention alone, as the pipeline counts it, and in the call of the prompts. */
static struct kernel beside_decodes(const struct step_prompts *prompts, uint32_t layer,
                                    const struct step_load *pass, struct prompt_attention *work)
{
    const struct setup *setup = prompts->setup;
    uint64_t mean = (pass->decode_tokens + pass->decodes - 1) / pass->decodes;
    uint64_t tokens = model_layer_tokens(&setup->model, layer, mean) * pass->decodes;
    struct kernel alone = cost_stage(setup, layer, MODEL_ATTEND, pass->decodes, tokens, 1);
    work->decodes = pass->decodes;
    work->decode_tokens = (double)tokens;
    struct kernel kernel = kernel_prompt_attention(&setup->profile, work);
    kernel.ns = fmax(0, kernel.ns - alone.ns);
    return kernel;
}

static struct kernel attention(struct step_prompts *prompts, const struct step_load *load,
                               uint32_t of, uint32_t layer, const struct step_load *pass)
{
    struct prompt_attention work = {0};
    spread_chunks(prompts, load, of, layer, &work);
    bool one_call = prompts->one_call && pass->decodes > 0 && work.token_flops > 0;
    return one_call ? beside_decodes(prompts, layer, pass, &work)
                    : kernel_prompt_attention(&prompts->setup->profile, &work);
}

uint64_t step_prompts_add(struct step_prompts *prompts, const struct step_load *load,
                          const struct step_load *pass, struct added *added)
{
    const struct model *model = &prompts->setup->model;
    struct kernel kernel = {.ns = 0};
    uint32_t fullest = spread_chunks(prompts, load, 0, 0, NULL);
    uint64_t rows = prompts->rows[fullest];
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        if (!model_layer_repeats(model, layer)) {
            kernel = attention(prompts, load, fullest, layer, pass);
            trust_add(&prompts->trust, kernel.trust);
        }
        added_time(added, kernel.ns, kernel.trust.basis);
    }
    return rows;
}
