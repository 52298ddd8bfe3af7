/* Programs that have GPUs of the server's, too: other containers of its manifest, and what a script starts
 * beside it. */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4096 };

/* Has the list one of the first so many devices of a server's? `maybe`: a variable may be one of them. */
static bool shares_device(const char *list, const char *server, uint64_t count, bool *maybe)
{
    device_list one, other;
    bool all = strcmp(list, "all") == 0, shares = all && server[0] == '=';
    for (int i = 0; !shares && (uint64_t)i < count && device_at(server, i, one); i++) {
        shares = all;
        for (int j = 0; !shares && device_at(list, j, other); j++) {
            shares = strcmp(one, other) == 0;
            *maybe = *maybe || (*one == '$') != (*other == '$'); /* two are of two */
        }
    }
    *maybe = *maybe && !shares;
    return shares || *maybe;
}

/* The share of a GPU's memory that an option of a server, or of TGI, states; 0: none does. */
static double share_of(const struct server_text *said, const char *text)
{
    const struct server_program *program;
    double share = 0;
    for (char word[WORD]; *text != '\0' && !(share > 0 && share <= 1);) {
        if (!shell_word(&text, word, sizeof word)) {
            text += *text != '\0'; /* behind its last blanks */
            continue;
        }
        char *name = word + strspn(word, "-"), *equals = strchr(word, '=');
        server_option_plain(name);
        if (equals != NULL) {
            *equals = '\0';
        }
        const struct server_option *option =
            name > word ? server_option_of_any(said->programs, name, &program) : NULL;
        bool sets = option != NULL && option->sets != NULL;
        if ((sets && strcmp(option->sets, "hbm_usable") == 0) ||
            strcmp(name, "cuda_memory_fraction") == 0) {
            share = strtod(equals != NULL ? equals + 1 : text, NULL);
        }
    }
    return share > 0 && share <= 1 ? share : 0;
}

struct gpu_user gpu_user_of_container(const struct server_text *said, struct server_job *job,
                                      const char *text)
{
    struct gpu_user user = {.line = said->line, .certain = true, .share = share_of(said, text)};
    *job = (struct server_job){.line = {0}};
    server_job_read(said, job, text, text + strlen(text));
    server_job_devices(job, user.devices);
    for (char word[WORD]; shell_word(&text, word, sizeof word);) {
        if (user.name[0] == '\0' && text_matches(word, "@(image|service)=*")) { /* or it is built */
            snprintf(user.name, sizeof user.name, "%s", strchr(word, '=') + 1);
        }
        user.certain = user.certain && strcmp(word, "profile=x") != 0; /* it has to be asked for */
    }
    return user;
}

void gpu_users_keep(struct server_text *said, const struct gpu_user *user)
{
    static const char idle[] = "*@(exporter|dcgm|nvtop|gpustat|device-plugin|nvidia-smi)*";
    bool has = user->devices[0] != '\0' && strchr("-=", user->devices[0]) == NULL &&
               !text_matches(user->name, idle);
    if ((user->server || has) && said->user_count == GPU_USERS) {
        server_text_refuse(said, NULL, "more than %d programs have GPUs", GPU_USERS);
    } else if (user->server || has) {
        said->users[said->user_count++] = *user;
    }
}

/* Name the image of a "docker run": the first word that may be one. Returns whether it starts a program of
 * its own, and is none in which a later line starts the server. */
static bool name_image(const char *text, char out[64])
{
    static const char runs[] = "@(docker|podman|nerdctl)*( compose| container) run *";
    static const char entered[] =
        "@(* ?(/bin/)@(bash|sh|zsh)*([ ;])|*sleep infinity*|*tail -f*|* -@(it|ti|i) *)";
    bool image = false;
    char word[WORD];
    bool own = text_matches(text, runs) && !text_matches(text, entered);
    snprintf(out, 64, "docker run");
    while (own && !image && shell_word(&text, word, sizeof word)) {
        image = strchr("-./~$", word[0]) == NULL && strpbrk(word, "/:") != NULL &&
                strstr(word, ":/") == NULL && strpbrk(word, "=\\") == NULL &&
                !isdigit((unsigned char)word[0]);
        snprintf(out, 64, "%.63s", image ? word : "docker run");
    }
    return own && !text_matches(out, "*@(vllm|sglang|tensorrt)*");
}

/* The program that a command starts, behind variables and programs that start others, and its word; NULL: it
 * only sets variables. `stays` where one of these lets it run on. */
static const char *program_of(const char *text, char word[WORD], bool *stays)
{
    static const char wraps[] =
        "@(export|env|set?(env)|nohup|sudo|exec|time|setsid|numactl|*python*|"
        "-*|[0-9]*|:|=|${*|*_DEVICES*|[A-Za-z_]*=*)";
    const char *from = text, *rest = text;
    for (; shell_word(&rest, word, WORD); from = rest) {
        *stays = *stays || text_matches(word, "@(nohup|setsid)");
        if (!text_matches(word, wraps)) {
            return from + strspn(from, " \t\v");
        }
    }
    return NULL;
}

/* Read a command of a script; `stays` it runs while the next ones do. Returns whether it is a program with
 * GPUs of its own. */
static bool read_command(struct server_text *said, const char *text, bool stays)
{
    static const char others[] = "@(tmux|screen|bash|sh|docker|podman|su|systemctl|service)";
    static const char sends[] =
        "*@(bench|client|guidellm|genai-perf|aiperf|lm_eval|evalscope|locust|"
        "nvidia-smi|echo|pip |curl|pytest)*";
    char word[WORD], inner[WORD];
    bool unit = text_matches(text, "@(command|ExecStart*)=*"); /* of systemd, supervisord */
    text += unit ? strcspn(text, "=") + 1 : strspn(text, "( ");
    struct gpu_user user = {.line = said->line, .certain = stays || unit};
    struct server_job job = {.line = {0}};
    struct shell_variable *serves;
    const char *program = program_of(text, word, &user.certain);
    server_job_read(said, program != NULL ? &job : &said->job, text, text + strlen(text));
    server_job_devices(&job, user.devices);
    if (program == NULL) {
        return false;
    }
    if (strcmp(word, "unset") == 0 && strstr(text, "CUDA_VISIBLE_DEVICES") != NULL) {
        said->job.visible[0] = '\0';
    }
    bool wrapped = text_matches(word, others);
    const char *quote = wrapped ? strpbrk(program, "'\"") : NULL;
    if (quote != NULL) { /* a command of its own */
        snprintf(inner, sizeof inner, "%.*s", (int)strcspn(quote + 1, "'\""), quote + 1);
        return read_command(said, inner, true);
    }
    const char *known = log_saying(said, SAYING_BESIDE, text),
               *own = strstr(text, "CUDA_VISIBLE_DEVICES=");
    const char *at = known != NULL ? strstr(program, known) : NULL, *end = program + strlen(word);
    bool is = at != NULL && (wrapped || (at < end && (at == program || at[-1] == '/')));
    bool container = user.devices[0] != '\0' && name_image(program, user.name);
    bool cuda = strstr(text, "--device cuda") != NULL || strstr(text, "--device=cuda") != NULL;
    if ((!is && !container && !cuda && (own == NULL || own > program)) ||
        text_matches(program, sends) || server_command_starts(said, text) ||
        shell_server_variable(said, text, &serves) != NULL) {
        return false;
    }
    user.certain = user.certain || wrapped || strstr(text, " -d ") || strstr(text, "--detach");
    word[strcspn(word, ")")] = '\0';
    if (!container) {
        snprintf(user.name, sizeof user.name, "%s", is ? known : basename(word));
    }
    const char *number = strstr(text, "cuda:"); /* PyTorch's */
    if (cuda && number != NULL) {
        snprintf(user.devices, sizeof user.devices, "%d", atoi(number + strlen("cuda:")));
    } else if (user.devices[0] == '\0') {
        server_job_devices(&said->job, user.devices);
        text_append(user.devices, sizeof user.devices, user.devices[0] != '\0' ? "" : "all");
    }
    user.share = share_of(said, text);
    if (user.certain || said->command_line > 0) {
        gpu_users_keep(said, &user);
    }
    return true;
}

bool gpu_users_find(struct server_text *said, const char *line)
{
    struct shell_blocks blocks = said->before;
    const char *known = log_saying(said, SAYING_BESIDE, line);
    bool may = known != NULL || strstr(line, "_VISIBLE_DEVICES") || strstr(line, " --gpus") ||
               strstr(line, "nvidia.com/") || strstr(line, "--device");
    bool found = false;
    char text[WORD];
    if (*line == '|' && known != NULL && strstr(line, "MiB |") != NULL) { /* of nvidia-smi */
        struct gpu_user user = {.line = said->line};
        snprintf(user.name, sizeof user.name, "%s", known);
        snprintf(user.devices, sizeof user.devices, "%d", atoi(line + 1));
        gpu_users_keep(said, &user);
        return false;
    }
    for (const char *at = line, *end;
         may && !shell_is_comment(line) && !said->container && shell_command(&blocks, &at, &end);
         at = end) {
        snprintf(text, sizeof text, "%.*s", (int)(end - at < WORD ? end - at : WORD - 1), at);
        found = read_command(said, text, *end == '&' && end[1] != '&') || found;
    }
    return found;
}

void gpu_users_server(struct server_text *said)
{
    const struct server_job *job = &said->job;
    bool visible = job->visible[0] != '\0', stated = visible || job->given[0] != '\0';
    struct gpu_user server = {
        .server = true, .line = stated ? job->line[visible ? JOB_VISIBLE : JOB_GIVEN] : said->line};
    struct gpu_user *at = said->users, *end = at + said->user_count;
    server_job_devices(job, server.devices);
    while (at < end && !at->server) {
        at++;
    }
    if (at < end && !said->container) {
        *at = server;              /* whose command a variable stands for */
    } else if (!said->container) { /* which is kept with all that it has */
        gpu_users_keep(said, &server);
    }
}

/* A share of a whole GPU's memory is the server's whoever else has some; one of what is free is not known. */
const struct gpu_user *gpu_users_check(struct server_text *said, uint64_t gpus)
{
    const struct gpu_user *all = said->users, *end = all + said->user_count, *server = all;
    const char *usable = said->keys.all[STATED_HBM_USABLE].value;
    bool pool = said->program->shares_whole;
    for (int i = STATED_KV_TOKENS; i <= STATED_KV_BYTES; i++) {
        const struct stated_key *key = &said->keys.all[i];
        pool = pool || key->value[0] != '\0' || server_text_overrides(said, key->key);
    }
    while (server < end && !server->server) {
        server++;
    }
    if (server == end) {
        return NULL;
    }
    if (strcmp(server->devices, "part") == 0) {
        said->line = server->line;
        server_text_refuse(said, "whole GPUs", "a slice of a GPU is not modelled");
    }
    for (const struct gpu_user *at = all; at < end; at++) {
        bool maybe = false;
        double share = at->share + (*usable != '\0' ? atof(usable) : 0.9);
        if (at == server || at->devices[0] == '\0' ||
            !shares_device(at->devices, server->devices, gpus, &maybe) || (at->server && maybe)) {
            continue;
        }
        said->line = at->line;
        if (at->server) {
            server_text_refuse(said, "GPUs of its own for each, or the text of one",
                               "copies of the server have the same GPU");
        } else if (at->share > 0 && share > 1) {
            server_text_refuse(said, "shares that leave room for both",
                               "'%s' and the server have %.4g of a GPU's memory", at->name, share);
        } else if (!pool && !maybe && at->certain) {
            server_text_refuse(
                said, "--set kv_pool_tokens=N, as its log says, or the text without the other",
                "'%s' has a GPU of the server, too, whose KV memory is a share of what is free",
                at->name);
        } else {
            server_text_pass(said, at->name,
                             "on the server's GPU: taken to be idle, and to leave it its memory");
        }
    }
    return server;
}
