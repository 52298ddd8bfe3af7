/* Programs that serve models, as data: how a command starts one, which options it has, and what its
 * logs and metrics say. engines/commands/NAME.yaml has them (engines/README.md says what the keys
 * mean). `--from` reads commands by these rows, and `plan` writes them. */
#pragma once

#include "core/node.h"

/* How the value of an option is read (option_values.c). */
enum server_value {
    SERVER_VALUE_NONE, /* it is not read */
    SERVER_VALUE_TEXT,
    SERVER_VALUE_NAME, /* counts only if nothing else names the model */
    SERVER_VALUE_WHOLE,
    SERVER_VALUE_LENGTH, /* a whole number; or auto, which says nothing */
    SERVER_VALUE_SHARE,
    SERVER_VALUE_SWITCH,
    SERVER_VALUE_NUMBER, /* maybe of units of memory */
    SERVER_VALUE_WORD,   /* one of the row's words */
    SERVER_VALUE_JSON,   /* an object: each key is an option "SETS.KEY" of its own */
};

enum { SERVER_KEY = 32 }; /* bytes of a key that an option sets */

struct server_option {
    /* Without dashes in front, with '_' for '-'; of those that are not read a pattern. */
    char name[96];
    /* As it is typed: "--max-num-seqs". Variables of the environment, and names that only logs
     * and metrics have, begin without a dash. */
    const char *flag;
    enum server_value value;
    const char *sets;         /* a key of scenarios, or a fact (server_text.h); NULL: none */
    const char *yes, *no;     /* what a switch sets; NULL: nothing */
    const char *unit;         /* behind the number of the key's value: "GiB", "tok"; NULL: none */
    const struct node *words; /* map of words and patterns: the key each sets, or a map of keys */
    const char *of;           /* the system that alone has it; NULL: all */
    const char *writes;       /* the {NAME} of its value (study/plan/start_line.h); NULL: none */
    const struct node *also;  /* other names of it */
    const char *reason;       /* why it is not read; NULL: it is */
    bool fixed;               /* its name begins with no pattern */
    bool harmless;            /* it is not read and changes no prediction */
    const char *usual; /* of one that is not read: the value with which it is not in use; or NULL */
};

/* What a text in a line says: "says", "fails", and so on, of engines/README.md. */
enum saying_kind {
    SAYING_SETS,
    SAYING_FAILS,
    SAYING_CRASHES,
    SAYING_READY,
    SAYING_REPEATS,
    SAYING_BESIDE,
    SAYING_MACHINE,
    SAYING_KINDS
};

enum { SERVER_ROWS = 4, SERVER_PROGRAMS_MOST = 8 };

struct server_program {
    const char *file;        /* "vllm"; engines/vllm.yaml has its versions */
    const struct node *root; /* of engines/commands/vllm.yaml, whose texts the others are */
    const char *title;       /* "vLLM" */
    const char *system;      /* that it is, and with host memory for prompts that begin alike */
    const char *tiered;
    const char *image; /* of its container, without a tag; `image_serves`: it starts a server */
    bool image_serves;
    const char *router;           /* the command of a router for several servers, */
    const char *router_image;     /* and its container's image */
    const char *metrics;          /* what a line of its metrics begins with */
    const struct node *starts;    /* lists of texts: in a command that starts a server, */
    const struct node *logs;      /* in a line of a log that has settings, */
    const struct node *versions;  /* and in front of its version */
    const struct node *others;    /* in an image whose tag is no version of the program */
    const struct node *elsewhere; /* and in one for other machines */
    const struct node *once;      /* in lines that each of its processes has once, in their order */
    const struct node *sayings[SAYING_KINDS]; /* and texts in its logs */
    const struct node *units;                 /* a map of units behind a number */
    bool shares_whole;    /* its part of memory is one of the whole GPU, not of what is free */
    uint64_t block;       /* tokens of a block of KV, if none is stated */
    bool ranks_in_tensor; /* its tensor_parallel counts all GPUs */
    struct server_option *options;
    size_t option_count, option_capacity;
    const struct node *rows[SERVER_ROWS]; /* of its options: read, harmless, refused, not known */
};

/* All programs, in the order of their files' names, up to one without a file. They live as long as the
 * process. NULL on failure. */
const struct server_program *server_programs(struct error *why);

/* Write a name of an option with '_' for '-'. */
void server_option_plain(char *name);

/* The option of this name; NULL: none is known. "no_" in front does not matter for an option that is not read. */
const struct server_option *server_option_find(const struct server_program *program,
                                               const char *name);

/* The only option of a command whose name begins so, as argparse completes it; NULL: none, or several. */
const struct server_option *server_option_shortened(const struct server_program *program,
                                                    const char *name);

/* The option of a command that `name`, which is none, most likely means. NULL if none that is read is nearest. */
const struct server_option *server_option_suggest(const struct server_program *program,
                                                  const char *name);

/* The option of this name, and whose it is; NULL if no program has it. */
const struct server_option *server_option_of_any(const struct server_program *all, const char *name,
                                                 const struct server_program **program);

/* What follows the first text of the list that `line` has, `whole` where it is the name of a program; NULL if the
 * line has none of them. */
const char *server_program_after(const struct node *list, const char *line, bool whole);

/* The program that the text of a command starts; NULL if it is none. */
const struct server_program *server_program_of(const char *command, struct error *why);
