/* What a job of a scheduler, a container or the environment gives a server: machines, tasks, GPUs, memory. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Programs that start others, and their options, which count up to the next word that is none. */
enum { SLURM = 1, CONTAINER = 2, RAY = 4, MPI = 8 };
static const struct {
    const char *name;
    unsigned is;
} starters[] = {{"srun", SLURM},  {"sbatch", SLURM},  {"salloc", SLURM},     {"mpirun", MPI},
                {"mpiexec", MPI}, {"run", CONTAINER}, {"launch", CONTAINER}, {"start", RAY}};

static const struct {
    const char *name;
    unsigned of; /* starters */
    enum job_count counts;
} options[] = {{"--nodes", SLURM, JOB_NODES},
               {"-N", SLURM, JOB_NODES},
               {"--ntasks-per-node", SLURM, JOB_NODE_TASKS},
               {"--ntasks", SLURM, JOB_TASKS},
               {"-np", MPI, JOB_TASKS},
               {"-n", SLURM | MPI, JOB_TASKS},
               {"--gres", SLURM, JOB_NODE_GPUS},
               {"--gpus-per-node", SLURM, JOB_NODE_GPUS},
               {"--gpus-per-task", SLURM, JOB_TASK_GPUS},
               {"--gpus", SLURM, JOB_GPUS},
               {"-G", SLURM, JOB_GPUS},
               {"--mem", SLURM, JOB_MEMORY},
               {"--gpus", CONTAINER, JOB_CONTAINER_GPUS},
               {"--memory", CONTAINER, JOB_MEMORY},
               {"-m", CONTAINER, JOB_MEMORY},
               {"gpus", CONTAINER, JOB_CONTAINER_GPUS}, /* of a manifest */
               {"memory", CONTAINER, JOB_MEMORY},
               {"limit", CONTAINER, JOB_MEMORY},
               {"--num-gpus", RAY, JOB_RAY_GPUS}};

/* GPUs in "2", "a100:2", "gpu:a100:2,nvme:1" (`gres`), "device=0,2"; 0: as many as there are, or not known. */
static double count_gpus(const char *value, bool gres, bool listed)
{
    double number = 0;
    size_t length, last;
    for (value += strspn(value, "\"'"); *value != '\0' && strchr("\"'", *value) == NULL;
         value += length + (value[length] == ',')) {
        length = last = strcspn(value, ",\"'(");
        listed = listed || strncmp(value, "device=", 7) == 0;
        while (last > 0 && strchr(":=", value[last - 1]) == NULL) { /* behind the last mark */
            last--;
        }
        bool digit = isdigit((unsigned char)value[last]), gpu = strncmp(value, "gpu", 3) == 0;
        if (value[length] == '(') { /* "gpu:2(S:0-1)" */
            length += strcspn(value + length, ",");
        }
        if (listed) {
            number += digit || strncmp(value + last, "GPU-", 4) == 0;
        } else if (gres ? gpu && strchr("${", value[last]) == NULL : digit) {
            number += digit ? atof(value + last) : 1;
        }
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
    bool slurm = counts >= JOB_GPUS && counts <= JOB_TASK_GPUS; /* the last one counts */
    for (int i = JOB_GPUS; slurm && number > 0 && i <= JOB_TASK_GPUS; i++) {
        job->number[i] = 0;
    }
    if (number > 0 || counts == JOB_VISIBLE_GPUS) {
        job->number[counts] = number;
        job->line[counts] = line;
    }
}

void server_job_sees(struct server_text *said, const char *name, const char *value)
{
    if (said->command_line == 0 &&
        fnmatch("@(CUDA|NVIDIA)_VISIBLE_DEVICES", name, FNM_EXTMATCH) == 0) {
        state(&said->job, name[0] == 'C' ? JOB_VISIBLE_GPUS : JOB_CONTAINER_GPUS,
              count_gpus(value, false, true), said->line);
    }
}

/* The value of the option in the word: "--gpus=2", "-G2", or "--gpus" with the value behind it; NULL: another. */
static const char *option_value(const char *name, const char *word, const char *rest, char *next,
                                size_t size)
{
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0) {
        return NULL;
    }
    bool attached = name[1] != '-' && isdigit((unsigned char)word[length]);
    return word[length] == '=' ? word + length + 1
           : attached          ? word + length
           : word[length] == '\0' && name[0] == '-' && shell_word(&rest, next, size) ? next
                                                                                     : NULL;
}

void server_job_read(const struct server_text *said, struct server_job *job, const char *from,
                     const char *end)
{
    char word[4096], next[4096] = "";
    unsigned of = said->container ? CONTAINER : 0;
    bool behind = false; /* an option, whose value it may be */
    if (strncmp(from, "#SBATCH", 7) == 0) {
        of = SLURM;
        from += 7;
    }
    while (from < end) {
        if (!shell_word(&from, word, sizeof word)) {
            from++;
            continue;
        }
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *value = (options[i].of & of) == 0
                                    ? NULL
                                    : option_value(options[i].name, word, from, next, sizeof next);
            enum job_count counts = options[i].counts;
            if (value != NULL) {
                state(job, counts,
                      counts == JOB_MEMORY
                          ? count_bytes(value, of == SLURM ? 'M' : 'B', options[i].name[0] == 'l')
                      : counts >= JOB_GPUS
                          ? count_gpus(value, strcmp(options[i].name, "--gres") == 0, false)
                          : atof(value),
                      said->line);
                break;
            }
        }
        bool other = word[0] != '-' && !behind && strchr(word, '=') == NULL;
        of = other ? 0 : of;
        for (size_t i = 0; other && i < sizeof starters / sizeof *starters; i++) {
            of = strcmp(word, starters[i].name) == 0 ? starters[i].is : of;
        }
        job->line[JOB_RAY_GPUS] = of == RAY ? said->line : job->line[JOB_RAY_GPUS];
        behind = word[0] == '-' && strchr(word, '=') == NULL;
    }
}

bool server_job_is_several(const struct server_job *job)
{
    return job->number[JOB_TASKS] > 0
               ? job->number[JOB_TASKS] > 1
               : job->number[JOB_NODES] > 1 || job->number[JOB_NODE_TASKS] > 1;
}

void server_job_read_line(struct server_text *said, const char *line)
{
    static const struct {
        const char *pattern, *what;
    } machines[] = {{"#SBATCH*[0-9]g.[0-9]*gb*", "a slice of a GPU"},
                    {"*--gpus*device=[0-9]:[0-9]*", "a slice of a GPU"},
                    {"*nvidia-smi* -mig 1*", "a slice of a GPU"},
                    {"* MIG [0-9]g.[0-9]*gb*Device*", "a slice of a GPU"},
                    {"*--device*/dev/@(kfd|dri|davinci)*", "a GPU of another maker"},
                    {"*nvidia-cuda-mps-control*", "a shared GPU"},
                    {"*nvidia-smi* -pl *", "a GPU with less power"},
                    {"*nvidia-smi* --power-limit*", "a GPU with less power"},
                    {"*nvidia-smi* -lgc *", "a GPU with slower clocks"},
                    {"*nvidia-smi* --lock-gpu-clocks*", "a GPU with slower clocks"}};
    bool slurm = strncmp(line, "#SBATCH", 7) == 0;
    const char *ray = shell_is_comment(line) ? NULL : strstr(line, "ray start ");
    bool asks = slurm || strstr(line, "nvidia-") != NULL || strstr(line, "--gpus") != NULL ||
                strstr(line, "/dev/") != NULL || strstr(line, " MIG ") != NULL;
    for (size_t i = 0; asks && i < sizeof machines / sizeof *machines; i++) {
        if (fnmatch(machines[i].pattern, line, FNM_EXTMATCH) == 0) {
            error_expect(server_text_refuse(said, "%s is not modelled", machines[i].what),
                         "whole GPUs as they are");
        }
    }
    if (slurm && strstr(line, "--array") != NULL && !server_text_overrides(said, "replicas")) {
        error_expect(server_text_refuse(said, "an array of tasks may start several servers"),
                     "--set replicas=N, the number of them");
    }
    if (slurm || ray != NULL) {
        server_job_read(said, &said->job, slurm ? line : ray, line + strlen(line));
    }
}

void server_job_check(struct server_text *said, uint64_t tensor, uint64_t ranks, uint64_t stages)
{
    const struct server_job *job = &said->job;
    bool known = job->number[JOB_NODES] > 0; /* else stages may stand on several machines */
    uint64_t all = tensor * ranks * (known ? stages : 1);
    double nodes = fmax(1, job->number[JOB_NODES]), sees = INFINITY;
    double tasks = fmax(1, fmax(job->number[JOB_NODE_TASKS], ceil(job->number[JOB_TASKS] / nodes)));
    for (int i = JOB_GPUS; i <= JOB_RAY_GPUS; i++) {
        double here = job->number[i] * (i == JOB_TASK_GPUS ? tasks : 1);
        here = i == JOB_GPUS ? ceil(here / nodes) : here;
        said->line = here > 0 && here < sees ? job->line[i] : said->line;
        sees = here > 0 ? fmin(sees, here) : sees;
    }
    if ((double)tensor > sees) {
        error_expect(server_text_refuse(said,
                                        "the server is on %u GPUs of a machine, and sees %.0f",
                                        (unsigned)tensor, sees),
                     "--set tensor_parallel=N, or the text without that limit");
    } else if (job->line[JOB_RAY_GPUS] == 0 && (double)all > nodes * sees) {
        error_expect(server_text_refuse(said, "the server is on %u GPUs, and sees %.0f",
                                        (unsigned)all, nodes * sees),
                     "the server as it runs, or the text without that limit");
    } else if (ranks * stages > 1 && (nodes > 1 || job->line[JOB_RAY_GPUS] > 0)) {
        server_text_pass(said, "machines", "what they exchange is computed as if they were one");
    }
}
