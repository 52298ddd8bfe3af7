/* Texts that programs have in lines of their logs, as data (engines/commands): what each sets, needs or
 * refuses, that a server failed, that a machine is another maker's. One pass over the whole text finds which
 * of them it has, so that its lines are searched for these alone. */
#include "predict/command/server_text.h"

#include <stdio.h>
#include <string.h>

static const char between[] = " ... "; /* "A ... B": both, in one line */

/* Has the line, of so many bytes, what the saying says? */
static bool stands_in(const struct server_saying *of, const char *line, size_t length)
{
    const char *dots = of->text + of->head, *at = memmem(line, length, of->text, of->head);
    size_t rest = at != NULL ? length - (size_t)(at - line) : 0;
    dots += *dots != '\0' ? strlen(between) : 0;
    return at != NULL && memmem(at, rest, dots, strlen(dots)) != NULL;
}

static int add_all(const struct server_program *of, const struct node *list, enum saying_kind kind,
                   struct server_saying *all, int count)
{
    for (size_t i = 0; list != NULL && i < list->count && count < SAYINGS; i++, count++) {
        const struct node *row = list->children[i];
        if (row->kind == NODE_LIST) { /* by the reason for which they are refused */
            count = add_all(of, row, kind, all, count) - 1;
            continue;
        }
        const char *text = kind == SAYING_SETS ? row->key : row->text;
        const char *dots = strstr(text, between);
        size_t head = dots != NULL ? (size_t)(dots - text) : strlen(text);
        all[count] = (struct server_saying){.program = of,
                                            .row = kind == SAYING_MACHINE ? list : row,
                                            .text = text,
                                            .head = head,
                                            .kind = kind};
    }
    return count;
}

static unsigned pair(const char *at)
{
    return ((unsigned)(unsigned char)at[0] << 5 ^ (unsigned char)at[1]) % SAYING_PAIRS;
}

void log_sayings_find(struct server_text *said, const char *text, int number)
{
    short first[SAYING_PAIRS], next[SAYINGS]; /* those that begin with the same two letters */
    bool seen[SAYINGS] = {false};
    const char *tried[SAYINGS] = {NULL}; /* the last line that was searched for it */
    struct server_saying all[SAYINGS];
    static const char request[] = "Received request";
    int count = 0;
    for (const struct server_program *of = said->programs; of->file != NULL; of++) {
        for (enum saying_kind kind = SAYING_SETS; kind < SAYING_KINDS; kind++) {
            count = add_all(of, of->sayings[kind], kind, all, count);
        }
    }
    memset(first, -1, sizeof first);
    for (int i = count; i-- > 0;) {
        next[i] = first[pair(all[i].text)];
        first[pair(all[i].text)] = (short)i;
    }
    for (const char *at = text, *line = text; *at != '\0'; at++) {
        if (*at == '\n' || *at == '\v') {
            line = *at == '\n' ? at + 1 : line;
            number++;
        }
        for (int i = first[pair(at)]; i >= 0; i = next[i]) {
            bool here = !seen[i] && strncmp(at, all[i].text, all[i].head) == 0;
            if (!here || all[i].kind != SAYING_MACHINE) {
                seen[i] = seen[i] || here;
            } else if (said->machine == NULL && tried[i] != line) {
                /* Comments but a scheduler's, and prompts of requests, say nothing of a machine. */
                size_t length = strcspn(line, "\n");
                tried[i] = line;
                if ((!shell_is_comment(line) || server_job_directs(line)) &&
                    stands_in(&all[i], line, length) &&
                    memmem(line, length, request, strlen(request)) == NULL) {
                    said->machine = all[i].text;
                    said->machine_reason = all[i].row->key;
                    said->machine_line = number;
                }
            }
        }
    }
    said->saying_count = 0;
    for (int i = 0; i < count; i++) {
        said->sayings[said->saying_count] = all[i];
        said->saying_count += seen[i];
    }
}

const char *log_saying(const struct server_text *said, enum saying_kind kind, const char *line)
{
    const char *text = NULL;
    size_t length = strlen(line);
    for (int i = 0; text == NULL && i < said->saying_count; i++) {
        const struct server_saying *of = &said->sayings[i];
        text = of->kind == kind && stands_in(of, line, length) ? of->text : NULL;
    }
    return text;
}

void log_sayings_read(struct server_text *said, const char *line)
{
    size_t length = strlen(line);
    for (int i = 0; i < said->saying_count; i++) {
        const struct server_saying *of = &said->sayings[i];
        if (of->kind != SAYING_SETS || !stands_in(of, line, length)) {
            continue;
        }
        const struct node *refused = node_get(of->row, "refused");
        const struct node *needs = node_get(of->row, "needs");
        said->program = of->program;
        if (refused != NULL) {
            server_text_refuse(said, "the log of a server without it", "'%s': %s", of->text,
                               refused->text);
        } else if (needs != NULL) {
            struct server_need *at = said->needs;
            while (at < said->needs + SERVER_NEEDS - 1 && at->says != NULL &&
                   strcmp(node_get(at->says, "needs")->text, needs->text) != 0) {
                at++;
            }
            *at = (struct server_need){.says = of->row, .line = said->line};
        } else {
            struct server_option option = {.value = SERVER_VALUE_WORD,
                                           .words = of->program->sayings[SAYING_SETS]};
            snprintf(option.name, sizeof option.name, "%.*s", (int)of->head, of->text);
            server_setting_take(&option, of->text, said);
        }
    }
}
