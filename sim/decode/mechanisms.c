/* A row is the feature: help, checking, defaults and documentation walk this table. */

#include "decode/mechanism_values.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "core/text.h"

static const char *const block_span_values[] = {"unit", "head", "layer", NULL};
static const char *const copy_values[] = {"asynchronous", "synchronous", NULL};
static const char *const prefix_write_values[] = {"finish", "fill", "evict", NULL};
static const char *const prefix_below_values[] = {"none", "arrive", "evict", NULL};
const char *const prefix_evictions[] = {"none",
#define POLICY(id)
#define EVICTION(id) #id,
#include "policy/policies.def"
                                        NULL};
#define ROW(key, of, kind, member, by_default, what, ...)                                          \
    {.name = #key,                                                                                 \
     .group = #of,                                                                                 \
     .type = MECHANISM_##kind,                                                                     \
     .offset = offsetof(struct mechanisms, member),                                                \
     .standard = by_default,                                                                       \
     .summary = what,                                                                              \
     __VA_ARGS__},
#define POLICY_KEY(key, of, ...) ROW(key, of, POLICY, key, __VA_ARGS__, .unit = UNIT_COUNT)
#define BUDGET(key, of, ...) ROW(key, of, BUDGET, key, __VA_ARGS__, .unit = UNIT_COUNT)
#define WORD(id, word) word,
#define CHOICE(key, of, by_default, what, words)                                                   \
    ROW(key, of, CHOICE, key, by_default, what, .unit = UNIT_COUNT,                                \
        .values = (const char *const[]){words NULL})
#define CHOICE_OF(key, ...) CHOICE_AT(key, key, __VA_ARGS__)
#define CHOICE_AT(key, place, of, list, by_default, what)                                          \
    ROW(key, of, CHOICE, place, by_default, what, .unit = UNIT_COUNT, .values = list)
#define SWITCH(key, of, ...) ROW(key, of, SWITCH, key, __VA_ARGS__, .unit = UNIT_COUNT)
#define WHOLE(key, ...) WHOLE_AT(key, key, __VA_ARGS__)
#define WHOLE_AT(key, place, of, in, ...) ROW(key, of, WHOLE, place, __VA_ARGS__, .unit = in)
#define EXTENT(key, of, in, ...) ROW(key, of, EXTENT, key, __VA_ARGS__, .unit = in)
#define REAL(key, of, in, ...) ROW(key, of, REAL, key, __VA_ARGS__, .unit = in)

const struct mechanism_key mechanism_keys[] = {
#include "decode/mechanisms.def"
    {.name = NULL},
};
static_assert(sizeof mechanism_keys / sizeof *mechanism_keys <= MECHANISM_MOST_KEYS,
              "room for all keys");

bool mechanisms_select(const struct mechanisms *mechanisms)
{
    return mechanisms->selection.unit == UNIT_TOKENS || mechanisms->selection.value < 1 ||
           mechanisms->selection_margin > 0;
}

/* A set that is used again, or was asked for a layer ahead, is not the one that an indexer selects. */
const char *mechanisms_lossless(const struct mechanisms *mechanisms)
{
    const struct policy_kind *policy = mechanisms->policy;
    bool chooses =
        (mechanisms_offload(mechanisms) && policy->chooses_own) || mechanisms->ffn_active < 1;
    bool native = mechanisms->retrieval == RETRIEVAL_NATIVE && !chooses && !policy->needs_queries &&
                  mechanisms->prefetch != PREFETCH_NEXT_LAYER;
    return mechanisms_remake_keys(mechanisms)           ? "lossy"
           : !mechanisms_select(mechanisms) && !chooses ? "exact"
           : native                                     ? "native"
                                                        : "lossy";
}

uint64_t mechanisms_resident_layers(const struct mechanisms *mechanisms)
{
    bool some = mechanisms->resident_heads == RESIDENT_FIRST_LAYER ||
                mechanisms->resident_heads == RESIDENT_DIFFICULTY;
    return some ? mechanisms->resident_layers : 0;
}

bool mechanisms_offload(const struct mechanisms *mechanisms)
{
    return mechanisms->resident_heads != RESIDENT_ALL;
}

bool mechanisms_load_whole(const struct mechanisms *mechanisms)
{
    return mechanisms->prefetch == PREFETCH_WHOLE_LAYER ||
           mechanisms->prefetch == PREFETCH_WHOLE_HEAD;
}

bool mechanisms_host_prefixes(const struct mechanisms *mechanisms)
{
    return mechanisms->prefix == PREFIX_TWO_TIER || mechanisms->prefix == PREFIX_HOST;
}

bool mechanisms_keep_prefixes(const struct mechanisms *mechanisms)
{
    return mechanisms->prefix != PREFIX_NONE;
}

bool mechanisms_stream_weights(const struct mechanisms *mechanisms)
{
    return mechanisms->weights < 1;
}

const struct policy_kind *mechanisms_policy(const struct mechanisms *mechanisms)
{
    return mechanisms->policy;
}

bool mechanisms_use_disk(const struct mechanisms *mechanisms)
{
    return (mechanisms->disk_kv > 0 && mechanisms_offload(mechanisms)) ||
           (mechanisms->disk_weights > 0 && mechanisms_stream_weights(mechanisms));
}

bool mechanisms_drop(const struct mechanisms *mechanisms)
{
    return mechanisms->policy->chooses_own && !mechanisms->policy->names_for_cpu;
}

bool mechanisms_need_cpu(const struct mechanisms *mechanisms)
{
    return mechanisms->manager != MANAGER_GPU || (mechanisms->transfer != TRANSFER_SM_ZERO_COPY &&
                                                  mechanisms->transfer != TRANSFER_IN_PLACE);
}

bool mechanisms_cpu_selects(const struct mechanisms *mechanisms)
{
    return mechanisms->attention == ATTEND_CPU && !mechanisms_load_whole(mechanisms);
}

bool mechanisms_remake_keys(const struct mechanisms *mechanisms)
{
    return mechanisms->keys_rank > 0 || mechanisms->keys_bits > 0;
}

bool mechanisms_attend_in_place(const struct mechanisms *mechanisms)
{
    return mechanisms_offload(mechanisms) && mechanisms->transfer == TRANSFER_IN_PLACE;
}

double mechanisms_pages(const struct mechanisms *mechanisms)
{
    double page = (double)mechanisms->cache_page / (double)mechanisms->granularity;
    return page == 0 || mechanisms->policy->needs_queries ? 0 : 1 / (1 - exp(-page));
}

bool mechanisms_share_ctas(const struct mechanisms *mechanisms)
{
    return mechanisms->merge && mechanisms->hit_ctas == 0;
}

static const void *mechanism_value_of(const struct mechanism_key *key, const struct mechanisms *of)
{
    return (const char *)of + key->offset;
}

static size_t param_count(const struct policy_kind *policy)
{
    size_t count = 0;
    while (policy->params != NULL && policy->params[count].name != NULL) {
        count++;
    }
    return count;
}

static bool mechanism_value_same_policy(const struct mechanisms *a, const struct mechanisms *b)
{
    bool same = strcmp(a->policy->name, b->policy->name) == 0;
    for (size_t i = 0; same && i < param_count(a->policy); i++) {
        same = a->policy_values[i] == b->policy_values[i];
    }
    return same;
}

bool mechanism_bounded(const struct mechanism_key *key, const struct mechanisms *mechanisms)
{
    const void *value = mechanism_value_of(key, mechanisms);
    if (key->rule == NULL) {
        return true;
    }
    double number =
        key->type == MECHANISM_REAL ? *(const double *)value : (double)*(const uint64_t *)value;
    return number >= key->least && (key->most == 0 || number <= key->most);
}

static size_t value_size(const struct mechanism_key *key)
{
    bool amount = key->type == MECHANISM_BUDGET || key->type == MECHANISM_EXTENT;
    return amount                          ? sizeof(struct amount)
           : key->type == MECHANISM_WHOLE  ? sizeof(uint64_t)
           : key->type == MECHANISM_REAL   ? sizeof(double)
           : key->type == MECHANISM_POLICY ? sizeof(const struct policy_kind *)
                                           : sizeof(int);
}

bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b)
{
    const void *x = mechanism_value_of(key, a), *y = mechanism_value_of(key, b);
    const struct amount *p = x, *q = y;
    switch (key->type) {
    case MECHANISM_REAL:
        return *(const double *)x == *(const double *)y;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        return p->rest == q->rest && (p->rest || (p->unit == q->unit && p->value == q->value));
    case MECHANISM_POLICY:
        return mechanism_value_same_policy(a, b);
    default:
        return memcmp(x, y, value_size(key)) == 0;
    }
}

void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from)
{
    memcpy((char *)to + key->offset, mechanism_value_of(key, from), value_size(key));
    if (key->type == MECHANISM_POLICY) {
        memcpy(to->policy_values, from->policy_values, sizeof to->policy_values);
    }
}

static void mechanism_value_write_policy(const struct mechanisms *of, FILE *out)
{
    char number[32];
    size_t params = param_count(of->policy);
    fputs(params > 0 ? "{name: " : "", out);
    quote_write(QUOTE_YAML, of->policy->name, out); /* that of a plug-in is its path */
    for (size_t i = 0; i < params; i++) {
        fprintf(out, ", %s: %s", of->policy->params[i].name,
                units_write(of->policy_values[i], UNIT_COUNT, number, sizeof number));
    }
    fputs(params > 0 ? "}" : "", out);
}

static void mechanism_value_write(const struct mechanism_key *key, const struct mechanisms *of,
                                  FILE *out)
{
    const void *value = mechanism_value_of(key, of);
    const struct amount *amount = value;
    char number[32];
    switch (key->type) {
    case MECHANISM_CHOICE:
        fputs(key->values[*(const int *)value], out);
        break;
    case MECHANISM_SWITCH:
        fputs(*(const int *)value ? "yes" : "no", out);
        break;
    case MECHANISM_WHOLE:
        fputs(units_write((double)*(const uint64_t *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_REAL:
        fputs(units_write(*(const double *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        fputs(amount->rest ? "rest"
                           : units_write(amount->value, amount->unit, number, sizeof number),
              out);
        break;
    case MECHANISM_POLICY:
        mechanism_value_write_policy(of, out);
        break;
    }
}

char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    if (good) {
        mechanism_value_write(key, of, file.out);
    }
    return text_close(&file, good, why);
}
