#include "decode/draft/draft_lengths.h"

#include "core/files.h"
#include "core/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a file ----------------------------------------------------------------------------- */

static const char header[] = "drafted,accepted";

/* Steps by the number of accepted drafts. */
struct draft_counts {
    uint64_t steps, accepted[DRAFTS_MOST + 1];
};

static bool lengths_add(struct draft_counts *counts, uint32_t count, const char *path, int line,
                        const char *text, struct error *why)
{
    char *end, *after;
    unsigned long drafted = strtoul(text, &end, 10);
    unsigned long accepted = *end == ',' ? strtoul(end + 1, &after, 10) : 0;
    if (end == text || *end != ',' || after == end + 1 || *after != '\0' || text[0] == '-' ||
        end[1] == '-') {
        error_set(why, path, line, "'%.60s' is not a step's drafts", text);
        return error_expect(why, "drafted and accepted tokens, such as 4,2");
    }
    if (accepted > drafted) {
        error_set(why, path, line, "%lu of %lu drafts were accepted", accepted, drafted);
        return error_expect(why, "at most %lu", drafted);
    }
    if (drafted < count) {
        error_set(why, path, line, "the step drafted %lu tokens, and 'drafts.count' is %u", drafted,
                  count);
        return error_expect(why, "steps of at least %u drafts, or a 'count' of at most %lu", count,
                            drafted);
    }
    counts->accepted[accepted < count ? accepted : count]++;
    counts->steps++;
    return true;
}

/* Read `text`, which it cuts into lines. */
static bool read_lines(char *text, const char *path, uint32_t count, struct draft_counts *counts,
                       struct error *why)
{
    int line = 0;
    for (char *at = text, *next; at != NULL; at = next) {
        char *end = strchr(at, '\n');
        next = end != NULL ? end + 1 : NULL;
        at[strcspn(at, "\r\n")] = '\0';
        line++;
        if (line == 1 && strcmp(at, header) != 0) {
            error_set(why, path, line, "'%.60s' is not the head of a file of accepted drafts", at);
            return error_expect(why, "%s", header);
        }
        if (line > 1 && *at != '\0' && !lengths_add(counts, count, path, line, at, why)) {
            return false;
        }
    }
    if (counts->steps > 0) {
        return true;
    }
    error_set(why, path, line, "the file has no steps");
    return error_expect(why, "a line for each step, such as 4,2");
}

bool draft_lengths_read(struct files *files, const char *path, uint32_t count,
                        struct drafts *drafts, struct error *why)
{
    size_t size;
    struct draft_counts counts = {.steps = 0};
    char *text = files_text(files, path, &size, why);
    bool good = text != NULL;
    if (good && memchr(text, '\0', size) != NULL) {
        error_set(why, path, 0, "the file is no text: it has a byte 0");
        good = error_expect(why, "a line for each step, such as 4,2");
    }
    good = good && read_lines(text, path, count, &counts, why);
    free(text);
    drafts->count = count;
    for (uint32_t i = 0; good && i <= count; i++) {
        drafts->accepted[i] = (double)counts.accepted[i] / (double)counts.steps;
    }
    return good;
}

/* ---- published -------------------------------------------------------------------------- */

static const struct published {
    enum draft_method method;
    const char *model, *task;
    uint32_t drafts; /* of the first length */
    const char *configuration, *source;
    double tokens[DRAFTS_MOST]; /* 0 after the last one */
} published[] = {
#define PUBLISHED(method, model, task, drafts, configuration, source, ...)                         \
    {method, model, task, drafts, configuration, source, {__VA_ARGS__}},
#include "decode/draft/published.def"
#undef PUBLISHED
};

enum { PUBLISHED_ROWS = sizeof published / sizeof *published };

/* Is it this model, or a quantised form of it? */
static bool is_model(const char *model, const char *name)
{
    size_t length = strlen(name);
    return strncmp(model, name, length) == 0 && (model[length] == '\0' || model[length] == '-');
}

static uint32_t most_drafts(const struct published *row)
{
    uint32_t lengths = 1;
    while (lengths < DRAFTS_MOST && row->tokens[lengths] > 0) {
        lengths++;
    }
    return row->drafts + lengths - 1;
}

/* Say which tasks are published for the method and model. */
static bool expect_task(const char *model, enum draft_method method, const char *task,
                        struct error *why)
{
    const char *tasks[PUBLISHED_ROWS + 1];
    size_t count = 0;
    for (size_t i = 0; i < PUBLISHED_ROWS; i++) {
        if (published[i].method == method && is_model(model, published[i].model)) {
            tasks[count++] = published[i].task;
        }
    }
    tasks[count] = NULL;
    return count > 0 ? name_expect(task, tasks, why)
                     : error_expect(why, "'acceptance', or a file of accepted lengths");
}

bool draft_lengths_published(const char *model, const char *task, uint32_t count, const char *file,
                             int line, struct drafts *drafts, struct error *why)
{
    const struct published *row = NULL;
    for (size_t i = 0; row == NULL && i < PUBLISHED_ROWS; i++) {
        bool same = published[i].method == drafts->method && is_model(model, published[i].model) &&
                    name_same(published[i].task, task);
        row = same ? &published[i] : NULL;
    }
    if (row == NULL) {
        error_input(why, file, line, "no lengths of '%s' are published for '%s' and task '%.60s'",
                    draft_methods[drafts->method], model, task);
        return expect_task(model, drafts->method, task, why);
    }
    if (count > most_drafts(row)) {
        error_input(why, file, line, "lengths of '%s' are published for fewer than %u drafts", task,
                    count);
        return error_expect(why, "'drafts.count' of at most %u", most_drafts(row));
    }
    uint32_t of = count < row->drafts ? row->drafts : count;
    drafts_set_rate(drafts, count, drafts_rate_of(of, row->tokens[of - row->drafts]));
    snprintf(drafts->source, sizeof drafts->source, "%s (%s)", row->source, row->configuration);
    return true;
}

enum { USUAL_DRAFTS = 3 };

bool draft_lengths_usual(const char *model, char *text, size_t size)
{
    const struct published *row = NULL;
    for (size_t i = 0; row == NULL && i < PUBLISHED_ROWS; i++) {
        bool usable = published[i].method != DRAFT_MODEL && is_model(model, published[i].model);
        row = usable ? &published[i] : NULL;
    }
    if (row == NULL) {
        return false;
    }
    bool covered = row->drafts <= USUAL_DRAFTS && most_drafts(row) >= USUAL_DRAFTS;
    snprintf(text, size, "{count: %u, method: %s, lengths: %s}",
             covered ? USUAL_DRAFTS : row->drafts, draft_methods[row->method], row->task);
    return true;
}
