/* What a server says about itself, as keys of a scenario: the start-up log of vLLM or SGLang, the
 * command that starts it, or its /metrics in Prometheus' text format.
 *
 * A file may hold several of these, but only one command; what stands later wins. Of a log in which
 * a server starts again, the last start counts. Lines of other kinds are passed over, and so is a
 * command behind '#'. A model stays the name that the server has for it: an id of Hugging Face or a path.
 *
 * Each container of a manifest (.yaml, .yml) is read as the command that it starts; those that say the
 * same are copies of one server.
 *
 * An option that changes no prediction is returned with the reason. One that is not modelled or unknown is an
 * error. No value of such an option is repeated anywhere: it may be a secret. */
#pragma once

#include "predict/command/server_program.h"
#include "predict/command/shell_text.h"

/* Keys that code reads or fills in, and facts; then those that only options set (server_program.h). */
enum stated_key_id {
#define KEY(id, name) STATED_##id,
#define FACT(id, name)
#include "predict/command/stated.def"
    STATED_FACTS,
    STATED_BEFORE_FACTS = STATED_FACTS - 1,
#define KEY(id, name)
#define FACT(id, name) STATED_##id,
#include "predict/command/stated.def"
    STATED_KNOWN,
    STATED_MOST = STATED_KNOWN + 16
};

struct stated_key {
    const char *key; /* of a scenario: "model", "dtype.kv"; NULL behind the last */
    char value[256]; /* "": the text does not say */
    char said[64];   /* the server's name for it */
    int line;
    bool typed;     /* in a command */
    bool implied;   /* by a word that says more than this */
    const char *of; /* counts for this system alone; NULL: for all */
};

/* Options of a command that change no prediction: a reason, and all that have it, "--host, --port". */
enum { SERVER_REASONS = 64 };
struct server_unused {
    const char *reason; /* NULL behind the last */
    char names[1024];   /* cut where they are more */
};

struct stated_keys {
    struct stated_key all[STATED_MOST];
    struct server_unused unused[SERVER_REASONS];
    bool says_prefixes; /* whether the GPU keeps prefixes */
    bool whole;         /* it states all settings that are not the defaults */
    bool fits_length;   /* it serves what there is room for: a length of auto */
    int starts;         /* of servers in a log, of which the last one counts */
    int start_line;     /* of that */
};

/* Read `in`, which messages call `file`, to its end: 256 MiB at most. A value that is invalid is
 * passed over if one of the `count` overrides, "KEY=VALUE", sets its key. Fails if nothing in it is
 * a server's, if a value is invalid or missing, if two commands start servers, or a loop starts several, if
 * an option is not modelled, and (a usage error) if one is unknown: all options at once. */
bool server_text_read(FILE *in, const char *file, const char *const *overrides, uint32_t count,
                      struct stated_keys *out, struct error *why);

/* ---- for the files that read it ---- */

enum { SERVER_ENGINES_MOST = 1000 };

/* A script's variables whose values its text says, or does not (not known). */
enum { SHELL_VARIABLES = 64 };
struct shell_variables {
    struct shell_variable {
        char name[64], value[1024]; /* of a list its words, as a shell has them */
        bool known, list, used;
        bool serves; /* its value starts a server */
    } all[SHELL_VARIABLES];
    int count;
    bool container; /* the command begins with those of its container */
    bool others;    /* a file that is not read may set more */
};

/* A setting where nothing reads it. */
enum { STRAYS = 64 };
struct stray_setting {
    const struct server_program *program;
    const struct server_option *option;
    char name[64], value[64]; /* as it stands there; an option's value may be missing: "" */
    int line;
    enum stray_kind {
        STRAY_NONE,   /* another program's, or only advised in a log */
        STRAY_LISTED, /* NAME=VALUE or NAME: VALUE */
        STRAY_STATED, /* otherwise */
        STRAY_TOLD,   /* in a sentence that advises it */
    } kind;
};

/* Devices: numbers, names or variables, "0,GPU-abc,${B}"; "": not stated; "all"; "-": none; "=2": of its own,
 * as Kubernetes gives them; "part": a slice of one. */
typedef char device_list[400];

/* What starts a server gives it so much of each (server_job.c); 0: not stated. GPUs are those of all nodes,
 * of one, of a task, of a socket, and of each machine of Ray, whose line is stated wherever Ray is. */
enum job_count {
    JOB_NODES,
    JOB_NODE_TASKS,
    JOB_TASKS,
    JOB_GPUS,
    JOB_NODE_GPUS,
    JOB_TASK_GPUS,
    JOB_SOCKET_GPUS,
    JOB_RAY_GPUS,
    JOB_SOCKETS,
    JOB_MEMORY,
    JOB_GIVEN, /* a list of devices: those of its container, and those of them that CUDA shows */
    JOB_VISIBLE,
    JOB_RESOURCES, /* a list of several of these */
    JOB_COUNTS
};
struct server_job {
    double number[JOB_COUNTS];
    int line[JOB_COUNTS];
    device_list given, visible;
};

/* What has GPUs: a server, each of its copies, or another program. */
enum { GPU_USERS = 64 };
struct gpu_user {
    char name[64];
    device_list devices;
    double share; /* of a GPU's memory; 0: not stated */
    int line;
    bool server, certain; /* that it runs at the same time */
};

/* Everything that was said so far, and where the text is read. A switch has the value "yes" or
 * "no", or that of its row; the others that of their key. */
enum { SAYINGS = 512, SAYING_PAIRS = 4096, SERVER_NEEDS = 8, COMMAND_MOST = 8192 };

struct server_text {
    const char *file;
    int line;
    const char *const *overrides;
    uint32_t override_count;
    bool typed;                 /* in a command, where 0 is no way to leave a number open */
    int command_line;           /* where the command begins; 0: none so far */
    char command[COMMAND_MOST]; /* what it says, and behind a '\n' a variable's line */
    const char *failure;        /* what a log's line says of a server that failed; NULL: it runs */
    int failed_line;
    const char *crash; /* what a log has behind settings, before its server was ready; or NULL */
    bool ready;
    bool logged;                                     /* a line of a log states settings */
    const struct server_program *programs, *program; /* all; the server's, NULL: not known */
    const struct server_program *first; /* of the first command or line of a log; NULL: none yet */
    struct stated_keys keys;
    struct error refused, last_refused; /* all refusals so far (found "": none), and the last */
    struct shell_blocks blocks, before; /* behind the line, and before it */
    bool container; /* the text is a container's command, which begins with its variables */
    struct shell_variables variables;
    size_t once;      /* of the lines that a start has once, those that this one had */
    char started[15]; /* when the last of these was written, "11-10 01:24:57"; "": not stated */
    bool backwards;   /* they stand newest first */
    unsigned engines; /* whose metrics state a pool: data-parallel ranks */
    bool engine_seen[SERVER_ENGINES_MOST]; /* by its number */
    char source[64]; /* before the lines that count: a container's or pod's name; "": nothing */
    struct server_job job;
    struct gpu_user users[GPU_USERS];
    int user_count;
    char taken[1024]; /* the line's variables that were read; "*": another program's */
    uint64_t copies;  /* of the server, that a manifest runs */
    int copies_line;
    uint64_t urls; /* behind a router */
    int urls_line;
    struct server_rank {
        int rank, line;
    } ranks[STATED_MAX_SEQUENCES]; /* by the key that counts them: a log's largest */
    struct server_need {
        const struct node *says; /* what a line says, for which another has to state a key */
        int line;
    } needs[SERVER_NEEDS]; /* one a key */
    struct server_saying { /* of the programs' texts, those that stand in this one */
        const struct server_program *program;
        const struct node *row;
        const char *text;
        size_t head; /* its bytes before " ... ", or all */
        enum saying_kind kind;
    } sayings[SAYINGS];
    int saying_count;
    const char *machine; /* what says that it is another maker's; NULL: nothing */
    const char *machine_reason;
    int machine_line;
    struct stray_setting strays[STRAYS];
    int stray_count;
    double pools[STRAYS]; /* of a log's processes, those that differ */
    struct server_worded {
        char version[16],
            other[16],  /* the first that a line states in words, and the last; "": none */
            stated[16]; /* the last in another way */
        int line;
    } worded[SERVER_PROGRAMS_MOST]; /* of each program */
};

/* ---- server_text.c ---- */

/* Read a container's command, a text of its own whose words stand in the lines that they have in the file, as
 * far as possible. One that says the same as an earlier one is a copy of that server, and one without a
 * server does not matter. `replicas` are those that the manifest states; NULL: it does not. */
void server_text_read_container(struct server_text *said, char *command, int line,
                                const struct node *replicas, int replicas_line);

/* The value of the key's override; NULL: it has none. */
const char *server_text_override(const struct server_text *said, const char *key);
bool server_text_overrides(const struct server_text *said, const char *key);

/* Keep an option that changes nothing; the second refuses one that is not read, unless it is harmless. */
void server_text_pass(struct server_text *said, const char *name, const char *reason);
void server_text_pass_over(struct server_text *said, const struct server_option *option,
                           const char *typed);

/* Refuse the text in its line, or in another, but read on, so that all refusals are told at once. What was
 * `expected` (NULL: nothing) is told of the only one. Returns the refusal. */
struct error *server_text_refuse(struct server_text *said, const char *expected, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));
#define server_text_refuse_at(said, at, ...)                                                       \
    ((said)->line = (at), server_text_refuse(said, __VA_ARGS__))

/* What follows from facts once all is read becomes keys: what follows from several, what another system alone has.
 * Refuses what its lines contradict. Fails if no version of the program is known. */
bool stated_complete(struct server_text *said, struct error *why);

/* Refuse the text if its commands and logs are of several programs. */
void server_text_check_program(struct server_text *said, const struct server_program *program);

/* How often the mark stands between the two. */
int server_text_count(const char *from, const char *end, char mark);

/* ---- commands ---- */

/* Read the line's command and the variables before it; a '\v' in the line ends a line of the file. Refuses
 * values of options that are missing or invalid, options that are not modelled or unknown, and a second
 * command. Returns whether there is one; the second, whether there is one of a router before the servers. */
bool server_command_read(struct server_text *said, char *text);
bool server_router_read(struct server_text *said, const char *line);

/* Take the variables that the line sets, unless it sets them for another program: "NAME=value program". */
void server_command_read_variables(struct server_text *said, const char *line);

/* Does the text start a server? Does the line end within quotes of a command, or a list "NAME=(", so that the
 * next one goes on with it? */
bool server_command_starts(const struct server_text *said, const char *text);
bool server_command_is_open(const struct server_text *said, const char *line);

/* Refuse a command in `line`: one starts a server in line `first`. */
void server_command_second(struct server_text *said, int first, int line);

/* The line with the values that earlier lines gave its variables, to be freed; those that are not known stay.
 * Keeps what it sets itself. NULL: out of memory. */
char *shell_expanded(struct server_text *said, const char *line);

/* Begin the text of a container with its own variables. */
void shell_variables_of_container(struct server_text *said, const char *line);

/* Behind the first variable of the text that stands for a command of a server; NULL: there is none. */
const char *shell_server_variable(struct server_text *said, const char *text,
                                  struct shell_variable **of);

/* Does a line so far stand for what it does by this variable? */
bool shell_variable_is_used(struct server_text *said, const char *name);

/* ---- versions ---- */

/* Why a version is the preset's. */
extern const char server_version_unsaid[];

/* The program's version is the one that the text begins with, and is in the line. False if it begins with
 * none that can be; NULL is none. */
bool server_text_state_version(struct server_text *said, const struct server_program *program,
                               const char *text);

/* Take the version that a line of a log states, or that of a package that it installs; or that of an image,
 * which is refused if it is one for other machines. */
void server_text_read_version(struct server_text *said, const char *line);
void server_text_read_image(struct server_text *said, const char *image);

/* ---- server_job.c, gpu_users.c ---- */

/* Read what the words between the two, or a scheduler's line, such as "#SBATCH", ask for. */
void server_job_read(const struct server_text *said, struct server_job *job, const char *from,
                     const char *end);
void server_job_read_line(struct server_text *said, const char *line);
bool server_job_directs(const char *line);

/* The devices that it gives; and the one in a place of them (of all, its number), if there is one. */
void server_job_devices(const struct server_job *job, device_list out);
bool device_at(const char *list, int place, device_list out);

/* The line with numbers for commands that count GPUs, "$(nvidia-smi -L | wc -l)", where the text tells them;
 * to be freed. NULL: it has none. */
char *server_job_counted(const struct server_text *said, const char *line);

/* Does it start what is in its line more than once? */
bool server_job_is_several(const struct server_job *job);

/* Refuse a server whose layers are split among more GPUs than a machine shows it, or that has more in all. */
void server_job_check(struct server_text *said, uint64_t tensor, uint64_t ranks, uint64_t stages);

/* Keep what has GPUs: programs that a line of a script starts (returns whether there is one), the server of
 * the job, what a container's text says, whose job is another. */
bool gpu_users_find(struct server_text *said, const char *line);
void gpu_users_server(struct server_text *said);
struct gpu_user gpu_user_of_container(const struct server_text *said, struct server_job *job,
                                      const char *text);
void gpu_users_keep(struct server_text *said, const struct gpu_user *user);

/* Refuse a server whose GPUs, so many, others have, too, if that changes what it has; tell the others.
 * Returns the first server; NULL: there is none. */
const struct gpu_user *gpu_users_check(struct server_text *said, uint64_t gpus);

/* ---- stray_settings.c ---- */

/* Keep what looks like settings in a line that nothing reads, and variables that programs know and that were
 * not read in the line. Once all is read, each says what was read, or is read if it stands in a list, or is
 * refused; one in a sentence that advises it is told. */
void stray_settings_find(struct server_text *said, const char *line);
void stray_variables_find(struct server_text *said, const char *line);
void stray_settings_settle(struct server_text *said);

/* ---- logs, and values of options ---- */

/* The text with the lines of a log that were wrapped whole again, each with a '\v' at its end for each end of
 * a line taken out: another text in the place of this one, which is freed, or itself. */
char *log_unwrapped(const struct server_text *said, char *text);

/* Does the line begin as one of a log: with a level, a process, a date, or a program's mark? */
bool log_line_begins(const struct server_text *said, const char *line);

/* Find which of the programs' texts stand in this one, whose first line has the number; the first of a kind
 * that a line has (NULL: none); and take what the line says in them. */
void log_sayings_find(struct server_text *said, const char *text, int number);
const char *log_saying(const struct server_text *said, enum saying_kind kind, const char *line);
void log_sayings_read(struct server_text *said, const char *line);

/* Take all settings of a line of a log. An option that a command may not have is refused if it is
 * True, or among those that the server was told. */
void log_settings_read(struct server_text *said, const char *line);

/* What stands in the line behind what marks settings of a log; NULL: nothing does. Does a list of settings go
 * on behind the line, or (`maybe`) one that ends with a comma and no bracket? */
const char *log_settings_behind(const struct server_text *said, const char *line);
bool log_settings_open(const struct server_text *said, const char *line, bool maybe);

/* Copy the value that begins at `at`: in quotes, or up to what ends it. */
void server_setting_copy(const char *at, char *out, size_t size);

/* Take the server's value of an option that is read. None, null, "" say nothing; wrong ones are refused. */
void server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said);

/* Is an option with the value in a log not in use: is it off, or the default? Has an option no value of its
 * own on a command line? And what values are, for a message, by how they are read. */
bool server_setting_is_usual(const struct server_option *option, const char *value);
bool server_setting_is_switch(const struct server_option *option);
extern const char *const server_setting_expected[];

/* ---- manifests ---- */

/* Is the text a manifest, or a Dockerfile, by its file's name or by how it begins? */
bool manifest_named(const char *file, const char *text);
bool dockerfile_named(const char *file, const char *text);

/* Read the containers of a text in their order, all documents; of a Dockerfile, whose text is changed, the
 * one that its last stage starts. Fails if it is not YAML, or if a server is divided among machines
 * (leaderWorkerTemplate.size). `within`: the text stands in another, whose other parts are none, behind
 * `before` lines. */
bool manifest_read(struct server_text *said, const char *text, int before, bool within,
                   struct error *why);
bool manifest_read_within(struct server_text *said, char *text, struct error *why);
bool dockerfile_read(struct server_text *said, char *text, struct error *why);

/* Add the objects of a document, or of a list in it, that have containers of their own; NULL: to none. A tree
 * of tsearch(), whose keys are "KIND/NAME", to be freed. */
void manifest_objects_add(const struct node *root, void **objects);

/* Does one of them own this object, as a Deployment owns its ReplicaSet? Or did it end, so that its owner has
 * replaced it? */
bool manifest_object_is_made(const struct node *object, void *const *objects);

/* Keep settings in texts of the node and below it. */
void manifest_settings_find(struct server_text *said, const struct node *node, int before);

/* The text at a path; "": there is none. The first of the paths, which NULL ends, that is there, or NULL.
 * Does a key of the node (NULL: none), or below it, match? */
const char *manifest_text(const struct node *map, const char *path);
const struct node *manifest_first(const struct node *map, const char *const *paths);
bool manifest_has_key(const struct node *node, const char *pattern);
