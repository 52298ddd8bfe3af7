#include "cli/plan/scenario_yaml.h"

#include "base/text.h"

#include <string.h>

/* Only texts of plain letters, digits and signs go without quotes. */
static void print_scalar(const char *text, FILE *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_./%+-=";
    bool starts = strchr(letters, text[0]) != NULL || strchr("0123456789/.", text[0]) != NULL;
    if (text[0] != '\0' && starts && text[strspn(text, others)] == '\0' &&
        strcasecmp(text, "null") != 0) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    while (*text != '\0') {
        char escaped[TEXT_ESCAPED];
        text_escape(&text, escaped); /* UTF-8: it was read as YAML */
        fputs(escaped, out);
    }
    fputc('"', out);
}

/* The name of a machine, or of a part, that has no overrides; NULL if it has some. */
static const char *bare_name(const struct node *node)
{
    const struct node *extends = node_get(node, "extends");
    return extends != NULL && node->count == 1 && extends->kind == NODE_SCALAR ? extends->text
                                                                               : NULL;
}

static void print_node(const struct node *node, FILE *out)
{
    const char *name = bare_name(node);
    if (name != NULL || node->kind == NODE_SCALAR) {
        print_scalar(name != NULL ? name : node->text, out);
        return;
    }
    if (node->kind == NODE_NULL) {
        fputs("null", out);
        return;
    }
    fputc(node->kind == NODE_MAP ? '{' : '[', out);
    for (size_t i = 0; i < node->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (node->kind == NODE_MAP) {
            print_scalar(node->children[i]->key, out);
            fputs(": ", out);
        }
        print_node(node->children[i], out);
    }
    fputc(node->kind == NODE_MAP ? '}' : ']', out);
}

void scenario_print_yaml(const struct node *root, FILE *out)
{
    for (size_t i = 0; i < root->count; i++) {
        print_scalar(root->children[i]->key, out);
        fputs(": ", out);
        print_node(root->children[i], out);
        fputc('\n', out);
    }
}
