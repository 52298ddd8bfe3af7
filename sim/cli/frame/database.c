#include "cli/frame/database.h"

#include "core/node.h"
#include "core/text.h"
#include "core/version.h"
#include "cli/frame/question.h"
#include "policy/plugin.h"
#include "store/store_program.h"

#include <inttypes.h>
#include <string.h>

bool database_open(const struct arguments *arguments, struct store **out, struct error *why)
{
    const char *path = arguments_shared(arguments, "--db");
    *out = path != NULL ? store_open(path, true, why) : NULL;
    if (*out != NULL) {
        store_watch(*out, question_stop());
    }
    return path == NULL || *out != NULL;
}

/* Write the policy of a stored scenario as tables name it. A database loads no plug-in: it may come
 * from anyone. */
static bool database_policy_words(const char *value, char *text, size_t size)
{
    struct error unseen;
    struct node *node = node_parse(value, strlen(value), "", &unseen);
    const struct node *named =
        node != NULL && node->kind == NODE_MAP ? node_get(node, "name") : node;
    bool known = named != NULL && named->kind == NODE_SCALAR && !plugin_is_named(named->text) &&
                 policy_words(node, text, size);
    node_destroy(node);
    return known;
}

bool database_name_policies(struct store *store, struct error *why)
{
    return store_add_function(store, "policy_words", database_policy_words, why);
}

static void note_program(const struct store_program *program, char note[DATABASE_NOTE])
{
    note[0] = '\0';
    if (!program->own && program->name[0] != '\0') {
        text_append(note, DATABASE_NOTE,
                    "computed by another program, spillway %s; this one, %s, may compute other "
                    "figures",
                    program->name, spillway_program);
    }
    if (program->hidden > 0) {
        text_append(note, DATABASE_NOTE, "%s%" PRIu64 " result%s of other programs %s left out",
                    note[0] != '\0' ? "; " : "", program->hidden, text_plural(program->hidden),
                    program->hidden == 1 ? "is" : "are");
    }
}

struct store *database_show(const char *path, char note[DATABASE_NOTE], struct error *why)
{
    struct store_program program;
    struct store *store = store_open(path, false, why);
    if (store != NULL &&
        (!store_show_program(store, &program, why) || !database_name_policies(store, why))) {
        store_close(store);
        return NULL;
    }
    if (store != NULL) {
        note_program(&program, note);
    }
    return store;
}

void database_print_note(const char *note)
{
    if (note[0] != '\0') {
        fprintf(stderr, "note: %s\n", note);
    }
}
