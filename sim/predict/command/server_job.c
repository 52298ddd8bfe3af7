/* What a job of a scheduler, a container or the environment gives a server: machines, tasks, GPUs, memory. */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Programs that start others: BATCH are PBS, SGE and OAR; SETS are Flux, and IBM's jsrun. What options behind
 * one count, up to the next word that is none; and variables of ANY, wherever they stand. */
enum { SLURM = 1, CONTAINER = 2, RAY = 4, MPI = 8, BATCH = 16, LSF = 32, SETS = 64, ANY = -1 };
static const struct {
    const char *names;
    int of;
} starters[] = {{"@(srun|sbatch|salloc)", SLURM},
                {"mpi@(run|exec)", MPI},
                {"@(run|launch)", CONTAINER},
                {"start", RAY},
                {"@(qsub|qrsh|qlogin|oarsub)", BATCH},
                {"bsub", LSF},
                {"@(jsrun|flux)", SETS}};
static const struct {
    const char *names;
    int of;
    enum job_count counts;
} rows[] = {{"@(--nodes|-N)", SLURM | SETS, JOB_NODES},
            {"-nnodes", LSF, JOB_NODES},
            {"--ntasks-per-node", SLURM, JOB_NODE_TASKS},
            {"@(--ntasks|-n|--nrs)", SLURM | SETS, JOB_TASKS},
            {"-n?(p)", MPI, JOB_TASKS},
            {"@(--@(gres|tres-per-node)|--gpus-per-node)", SLURM, JOB_NODE_GPUS},
            {"--@(gpus|tres)-per-task", SLURM, JOB_TASK_GPUS},
            {"@(-g|--gpu_per_rs|--gpus-per-@(task|slot))", SETS, JOB_TASK_GPUS},
            {"--@(gpus|tres)-per-socket", SLURM, JOB_SOCKET_GPUS},
            {"--sockets-per-node", SLURM, JOB_SOCKETS},
            {"@(--gpus|-G)", SLURM, JOB_GPUS},
            {"@(-l|--attrs)", BATCH, JOB_RESOURCES},
            {"@(-gpu|-R)", LSF, JOB_RESOURCES},
            {"--mem", SLURM, JOB_MEMORY},
            {"@(?(--)gpus|gpu_limit|?(--)runtime|--device)", CONTAINER, JOB_GIVEN},
            {"*NVIDIA_VISIBLE_DEVICES?(:)", ANY, JOB_GIVEN}, /* "${NAME:=0}" */
            {"*CUDA_VISIBLE_DEVICES?([]:])", ANY, JOB_VISIBLE},
            {"@(--memory|-m|memory|limit)", CONTAINER, JOB_MEMORY},
            {"--num-gpus", RAY, JOB_RAY_GPUS}};

static const struct {
    const char *mark;
    int of;
} schedulers[] = {{"#SBATCH", SLURM}, {"#PBS", BATCH}, {"#$ ", BATCH},  {"#OAR", BATCH},
                  {"#COBALT", BATCH}, {"#BSUB", LSF},  {"#FLUX:", SETS}};

/* The one whose line it is; -1: none. */
static int scheduler_of(const char *line)
{
    int i = sizeof schedulers / sizeof *schedulers;
    while (i-- > 0 && strncasecmp(line, schedulers[i].mark, strlen(schedulers[i].mark)) != 0) {
    }
    return i;
}

bool server_job_directs(const char *line)
{
    return scheduler_of(line) >= 0;
}

bool device_at(const char *list, int place, device_list out)
{
    if (list[0] == '\0' || strcmp(list, "all") == 0) {
        snprintf(out, sizeof(device_list), "%d", place);
        return true;
    }
    for (; place > 0; place--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    snprintf(out, sizeof(device_list), "%.*s", (int)strcspn(list, ","), list);
    return out[0] != '\0' && strchr("-=p", out[0]) == NULL;
}

/* How many a list has; INFINITY: that is not known. */
static double count_devices(const char *list)
{
    double count = list[0] == '=' ? atof(list + 1) : list[0] != '-';
    bool known = list[0] != '\0' && strchr("ap", list[0]) == NULL && strchr(list, '$') == NULL;
    for (; (list = strchr(list, ',')) != NULL; list++) {
        count++;
    }
    return known ? count : HUGE_VAL;
}

/* Read "all", "device=0,2", "nvidia.com/gpu=0", "0,GPU-abc"; `counted`: a number is how many, from 0 on. */
static void take_devices(const char *value, bool counted, device_list out)
{
    enum { MOST = 16 };
    size_t length;
    int items = 0;
    bool none = text_matches(value, "?([\"'])@(|-1|none)?([\"'])"),
         all = strstr(value, "all") != NULL;
    counted = counted && strspn(value, "0123456789\"'") == strlen(value);
    snprintf(out, sizeof(device_list), "%s", all ? "all" : none ? "-" : "");
    for (; !all && *value != '\0'; value += length + (value[length] == ',')) {
        length = strcspn(value, ",; ");
        length += length == 0;
        const char *item = value + strspn(value, "\"'");
        for (const char *at = value; *item != '$' && at < value + length; at++) {
            item = *at == '=' ? at + 1 : item; /* "device=0", "nvidia.com/gpu=0" */
        }
        item += text_begins(item, "/dev/nvidia") ? 11 : 0;
        size_t size = strcspn(item, "\"',; }");
        bool digit = isdigit((unsigned char)*item);
        if (strncasecmp(item, "MIG", 3) == 0 || (digit && text_matches(item, "+([0-9]):[0-9]*"))) {
            snprintf(out, sizeof(device_list), "part");
            return;
        }
        if (digit || *item == '$' || text_begins(item, "GPU-")) {
            out[0] = items++ == 0 ? '\0' : out[0];
            text_append(out, sizeof(device_list), "%s%.*s", items > 1 ? "," : "", (int)size, item);
        }
    }
    if (counted && items == 1) {
        int count = atoi(out) < MOST ? atoi(out) : MOST;
        snprintf(out, sizeof(device_list), "%s", count > 0 ? "0" : "-");
        for (int i = 1; i < count; i++) {
            text_append(out, sizeof(device_list), ",%d", i);
        }
    }
}

/* CUDA counts the GPUs that it sees among those of their container. */
void server_job_devices(const struct server_job *job, device_list out)
{
    device_list one, other;
    const char *given = job->given, *visible = job->visible;
    bool counts = visible[0] != '\0' && strchr("-p", given[0] != '\0' ? given[0] : ' ') == NULL;
    snprintf(out, sizeof(device_list), "%s", counts ? visible : given);
    for (int i = 0;
         counts && strchr("0123456789$G", visible[0]) != NULL && device_at(visible, i, one); i++) {
        bool number = isdigit((unsigned char)one[0]) && device_at(given, atoi(one), other);
        out[0] = i == 0 ? '\0' : out[0];
        text_append(out, sizeof(device_list), "%s%s", i > 0 ? "," : "", number ? other : one);
    }
}

/* GPUs in "2", "a100:2", "gpu:a100:2,nvme:1", "gres/gpu=2" (`gres`); 0: all that there are, or not known. */
static double count_gpus(const char *value, bool gres)
{
    double number = 0;
    for (value += strspn(value, "\"'"); *value != '\0' && strchr("\"'", *value) == NULL;
         value += *value == ',') {
        value += text_matches(value, "gres[/:]*") ? 5 : 0;
        bool gpu = text_begins(value, "gpu");
        const char *end = value + strcspn(value, ",\"'("), *last = end;
        while (last > value && strchr(":=", last[-1]) == NULL) { /* behind the last mark */
            last--;
        }
        bool digit = isdigit((unsigned char)*last);
        if (gres ? gpu && strchr("${", *last) == NULL : digit) {
            number += digit ? atof(last) : 1;
        }
        value = end + (*end == '(' ? strcspn(end, ",") : 0); /* "gpu:2(S:0-1)" */
    }
    return number;
}

/* Bytes in "32Gi", "32g"; a plain number is in units of `plain`, and Kubernetes' "32G" is a decimal one. */
static double count_bytes(const char *value, char plain, bool decimal)
{
    static const char units[] = "BKMGT";
    char *unit;
    double number = strtod(value, &unit);
    const char *at = strchr(units, *unit != '\0' ? toupper((unsigned char)*unit) : plain);
    double power = at != NULL ? (double)(at - units) : 0;
    return number * pow(decimal && *unit != '\0' && unit[1] != 'i' ? 1000 : 1024, power);
}

static void state(struct server_job *job, enum job_count counts, double number, int line)
{
    bool slurm = counts >= JOB_GPUS && counts <= JOB_SOCKET_GPUS; /* the last one counts */
    for (int i = JOB_GPUS; slurm && number > 0 && i <= JOB_SOCKET_GPUS; i++) {
        job->number[i] = 0;
    }
    if (number > 0) {
        job->number[counts] = number;
        job->line[counts] = line;
    }
}

/* Of "select=1:ncpus=8:ngpus=4", "gpu=4,h_vmem=8G", "host=1/gpu=4", "num=4", "rusage[ngpus_excl_p=4]". */
static void state_resources(struct server_job *job, const char *value, int line)
{
    state(job, JOB_NODE_GPUS, strcmp(value, "-") == 0, line); /* LSF's default */
    for (size_t length; *value != '\0'; value += length + (value[length] != '\0')) {
        char item[64], *unit;
        length = strcspn(value, ":,/+[] ");
        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : 0), value);
        const char *equals = strchr(item, '='), *number = equals != NULL ? equals + 1 : "";
        strtod(number, &unit);
        if (text_matches(item, "@(select|nodes|host)=*")) {
            state(job, JOB_NODES, atof(number), line);
        } else if (text_matches(item, "@(?(n)gpu?(s)|gpu_card|num|ngpus_*)=*")) {
            state(job, JOB_NODE_GPUS, atof(number), line);
        } else if (text_begins(item, "mem=") && *unit != '\0') {
            state(job, JOB_MEMORY, count_bytes(number, 'B', false), line);
        }
    }
}

/* `added`: to those that an earlier "--device" of the command gives. */
static void state_devices(struct server_job *job, enum job_count counts, const char *name,
                          const char *value, bool added, int line)
{
    char *list = counts == JOB_GIVEN ? job->given : job->visible;
    device_list one;
    bool device = strcmp(name, "--device") == 0, runtime = strstr(name, "runtime") != NULL;
    if (strcmp(name, "gpu_limit") == 0) {
        snprintf(one, sizeof one, "=%.8s", value);
    } else if (runtime) {
        snprintf(one, sizeof one, "%s", list[0] == '\0' ? "all" : list);
    } else {
        value += strncmp(value, "count=", 6) == 0 ? 6 : 0;
        bool several = strstr(name, "gpus") != NULL && strchr(value, '=') == NULL;
        take_devices(value, several, one);
    }
    if ((runtime && strcmp(value, "nvidia") != 0) ||
        (device && !text_matches(value, "@(nvidia.com/gpu=|/dev/nvidia[0-9])*"))) {
        return;
    }
    bool more = device && added && isdigit((unsigned char)list[0]) && one[0] != 'a';
    list[0] = more ? list[0] : '\0';
    text_append(list, sizeof(device_list), "%s%s", more ? "," : "", one);
    job->line[counts] = line;
}

/* State what an option behind a starter, or a variable, asks for. */
static void state_asked(struct server_job *job, enum job_count counts, int of, const char *name,
                        const char *value, bool added, int line)
{
    if (counts == JOB_GIVEN || counts == JOB_VISIBLE) {
        state_devices(job, counts, name, value, added, line);
    } else if (counts == JOB_RESOURCES) {
        state_resources(job, value, line);
    } else if (counts == JOB_MEMORY) {
        state(job, counts, count_bytes(value, of == SLURM ? 'M' : 'B', name[0] == 'l'), line);
    } else if (counts >= JOB_GPUS && counts <= JOB_RAY_GPUS) {
        state(job, counts, count_gpus(value, text_matches(name, "--[gt]res*")), line);
    } else {
        state(job, counts, atof(value), line);
    }
}

void server_job_read(const struct server_text *said, struct server_job *job, const char *from,
                     const char *end)
{
    char word[4096], value[4096];
    int script = scheduler_of(from), of = said->container ? CONTAINER : 0;
    bool behind = false, added = false; /* `behind` an option without a value */
    if (script >= 0) {
        of = schedulers[script].of;
        from += strlen(schedulers[script].mark);
    }
    while (from < end) {
        if (!shell_word(&from, word, sizeof word)) {
            from++;
            continue;
        }
        /* "--gpus=2", "-G2", or "--gpus" with the value behind it; "--env=CUDA_VISIBLE_DEVICES=0" */
        const char *next = from, *named = strstr(word, "_VISIBLE_DEVICES");
        bool option = word[0] == '-', glued = named == NULL && option && word[1] != '-';
        char *given = word + (named != NULL ? named - word : 0);
        given += strcspn(given, glued ? "=0123456789" : "=");
        bool alone = *given == '\0', starts = alone && !option && !behind;
        snprintf(value, sizeof value, "%s", given + (*given == '='));
        if (alone && !shell_word(&next, value, sizeof value)) {
            value[0] = '\0';
        }
        if (named != NULL && strcmp(value, "=") == 0) { /* as Python has it */
            shell_word(&next, value, sizeof value);
        }
        *given = '\0';
        if (starts && (of != SETS || strcmp(word, "run") != 0)) { /* "flux run" */
            of = 0;
            for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
                of = text_matches(word, starters[i].names) ? starters[i].of : of;
            }
        }
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            bool any =
                rows[i].of == ANY && named != NULL && (!alone || isdigit((unsigned char)value[0]));
            if ((any || (rows[i].of != ANY && (rows[i].of & of))) &&
                text_matches(word, rows[i].names)) {
                state_asked(job, rows[i].counts, of, word, value, added, said->line);
                added = added || rows[i].counts == JOB_GIVEN || rows[i].counts == JOB_VISIBLE;
            }
        }
        job->line[JOB_RAY_GPUS] = of == RAY ? said->line : job->line[JOB_RAY_GPUS];
        behind = option && alone;
    }
}

/* The GPUs of a machine that it is given; INFINITY: not stated. */
static double gpus_given(const struct server_job *job, int *line)
{
    double nodes = fmax(1, job->number[JOB_NODES]), sees = INFINITY;
    double tasks = fmax(1, fmax(job->number[JOB_NODE_TASKS], ceil(job->number[JOB_TASKS] / nodes)));
    for (int i = JOB_GPUS; i <= JOB_RAY_GPUS; i++) {
        double here = job->number[i] * (i == JOB_TASK_GPUS     ? tasks
                                        : i == JOB_SOCKET_GPUS ? fmax(1, job->number[JOB_SOCKETS])
                                                               : 1);
        here = i == JOB_GPUS ? ceil(here / nodes) : here;
        *line = here > 0 && here < sees ? job->line[i] : *line;
        sees = here > 0 ? fmin(sees, here) : sees;
    }
    return sees;
}

char *server_job_counted(const struct server_text *said, const char *line)
{
    static const char marks[] = "@([$][(]@(nvidia-smi|python|echo|ls /dev/nvidia)|=`nvidia-smi)*";
    static const char all[] = "*@(nvidia-smi|ls /dev/nvidia)*@(wc -l|grep -c|query-gpu=count)*";
    static const char shown[] = "@(*torch.cuda.device_count*|*CUDA_VISIBLE_DEVICES*@(wc -|NF)*)";
    char *text = NULL, command[256];
    int given;
    size_t size;
    device_list devices;
    server_job_devices(&said->job, devices); /* nvidia-smi shows what CUDA does not see */
    bool may = strstr(line, "nvidia") != NULL || strstr(line, "device_count") != NULL ||
               strstr(line, "VISIBLE_DEVICES") != NULL;
    FILE *out = may ? open_memstream(&text, &size) : NULL;
    for (const char *at = line, *end; out != NULL && *at != '\0'; at = end) {
        const char *from = at + (*at == '=');
        bool marked = strchr("$=", *at) != NULL && text_matches(at, marks);
        end = marked ? shell_output_end(from, true) : NULL;
        bool fits = end != NULL && end - from < (long)sizeof command;
        snprintf(command, sizeof command, "%.*s", fits ? (int)(end - from) : 0, from);
        bool cuda = fits && text_matches(command, shown);
        double gpus = !fits ? 0
                            : fmin(gpus_given(&said->job, &given),
                                   count_devices(cuda ? devices : said->job.given));
        if (gpus > 0 && isfinite(gpus) && (cuda || text_matches(command, all))) {
            fprintf(out, "%s%.0f", *at == '=' ? "=" : "", gpus);
        } else {
            fputc(*at, out);
            end = at + 1;
        }
    }
    return out != NULL && fclose(out) == 0 ? text : NULL;
}

bool server_job_is_several(const struct server_job *job)
{
    return job->number[JOB_TASKS] > 0
               ? job->number[JOB_TASKS] > 1
               : job->number[JOB_NODES] > 1 || job->number[JOB_NODE_TASKS] > 1;
}

/* Set what a scheduler's script finds in variables. */
static void state_variables(struct server_text *said)
{
    static const struct {
        const char *name;
        enum job_count counts;
    } variables[] = {{"SLURM_NNODES", JOB_NODES},
                     {"SLURM_JOB_NUM_NODES", JOB_NODES},
                     {"SLURM_NTASKS", JOB_TASKS},
                     {"SLURM_NPROCS", JOB_TASKS},
                     {"SLURM_NTASKS_PER_NODE", JOB_NODE_TASKS},
                     {"SLURM_GPUS", JOB_GPUS},
                     {"SLURM_GPUS_ON_NODE", JOB_NODE_GPUS},
                     {"SLURM_GPUS_PER_NODE", JOB_NODE_GPUS},
                     {"SLURM_GPUS_PER_TASK", JOB_TASK_GPUS},
                     {"PBS_NGPUS", JOB_NODE_GPUS}};
    struct server_job job = said->job;
    int line;
    char sets[512] = "";
    double *asked = job.number, gpus = gpus_given(&job, &line);
    asked[JOB_NODES] = fmax(1, asked[JOB_NODES]);
    asked[JOB_TASKS] = fmax(asked[JOB_TASKS], asked[JOB_NODES] * asked[JOB_NODE_TASKS]);
    asked[JOB_NODE_GPUS] = isfinite(gpus) ? gpus : 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        double number = asked[variables[i].counts];
        if (number > 0) {
            text_append(sets, sizeof sets, "%s=%.0f ", variables[i].name, number);
        }
    }
    free(shell_expanded(said, sets));
}

void server_job_read_line(struct server_text *said, const char *line)
{
    static const char arrays[] =
        "@(#SBATCH*--array*|#SBATCH* -a [0-9]*|#PBS* -[Jt] [0-9]*|#[$]* -t [0-9]*|#BSUB* -J *[[]*)";
    static const char scales[] = "@(*compose ?(* )--scale +([!= ])|*kubectl ?(* )scale *--replicas)"
                                 "[= ]@([$]|[2-9]|[1-9][0-9])*";
    bool script = server_job_directs(line), comment = shell_is_comment(line);
    const char *ray = comment ? NULL : strstr(line, "ray start ");
    if (strcasestr(line, "ray cluster") != NULL || strstr(line, "ray_cluster") != NULL ||
        strstr(line, "run_cluster.sh ") != NULL ||
        (strstr(line, "executor") != NULL && text_matches(line, "*executor*[=: '\"]ray*"))) {
        said->job.line[JOB_RAY_GPUS] = said->line; /* stages may stand on several machines */
    }
    const char *rest = line + strspn(line, " ");
    if (text_begins(rest, "accelerators: ")) { /* of SkyPilot */
        state(&said->job, JOB_NODE_GPUS, count_gpus(rest + 14, false), said->line);
    }
    bool array = script && text_matches(line, arrays);
    bool copies = !comment && strstr(line, "scale ") != NULL && text_matches(line, scales);
    if ((array || copies) && !server_text_overrides(said, "replicas")) {
        server_text_refuse(said, "--set replicas=N, the number of them",
                           array ? "an array of tasks may start several servers"
                                 : "it may start several copies of the server");
    }
    bool beside = gpu_users_find(said, line);
    bool shell = said->command_line == 0 && !beside && !comment && /* whose words follow */
                 (strstr(line, " run ") != NULL || strstr(line, "--pty") != NULL ||
                  strstr(line, "salloc ") != NULL || strstr(line, "sub -") != NULL);
    if (script || shell || ray != NULL) {
        server_job_read(said, &said->job, ray != NULL ? ray : line, line + strlen(line));
    }
    if (script) {
        state_variables(said);
    }
}

void server_job_check(struct server_text *said, uint64_t tensor, uint64_t ranks, uint64_t stages)
{
    enum { MOST = 8 }; /* GPUs of a machine, if Ray may join several */
    const struct server_job *job = &said->job;
    uint64_t all = tensor * ranks * stages;
    const struct gpu_user *server = gpu_users_check(said, all);
    double nodes = fmax(1, job->number[JOB_NODES]);
    double sees = gpus_given(job, &said->line),
           own = server != NULL ? count_devices(server->devices) : INFINITY;
    said->line = own < sees ? server->line : said->line;
    sees = fmin(own, sees);
    bool ray = job->line[JOB_RAY_GPUS] > 0;
    said->line = ray && sees > MOST ? job->line[JOB_RAY_GPUS] : said->line;
    sees = ray ? fmin(sees, MOST) : sees;
    bool split = (double)tensor > sees;
    if (split || (!ray && (double)all > nodes * sees)) {
        server_text_refuse(said, "--set tensor_parallel=N, or the text without that limit",
                           "the server is on %u GPUs%s, and sees %.0f",
                           (unsigned)(split ? tensor : all), split ? " of a machine" : "",
                           split ? sees : nodes * sees);
    } else if (ranks * stages > 1 && (nodes > 1 || ray)) {
        server_text_pass(said, "machines", "what they exchange is computed as if they were one");
    }
}
