/* What a job of a scheduler, a container or the environment gives a server: machines, tasks, GPUs, memory. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs that start others, and their options, by patterns. These count up to the next word that is none. */
enum { SLURM = 1, CONTAINER = 2, RAY = 4, MPI = 8 };
static const struct {
    const char *names;
    unsigned of;
    enum job_count counts;
} rows[] = {{"@(srun|sbatch|salloc)", SLURM, JOB_STARTS},
            {"mpi@(run|exec)", MPI, JOB_STARTS},
            {"@(run|launch)", CONTAINER, JOB_STARTS},
            {"start", RAY, JOB_STARTS},
            {"@(--nodes|-N)", SLURM, JOB_NODES},
            {"--ntasks-per-node", SLURM, JOB_NODE_TASKS},
            {"@(--ntasks|-n)", SLURM, JOB_TASKS},
            {"-n?(p)", MPI, JOB_TASKS},
            {"@(--gres|--gpus-per-node)", SLURM, JOB_NODE_GPUS},
            {"--gpus-per-task", SLURM, JOB_TASK_GPUS},
            {"@(--gpus|-G)", SLURM, JOB_GPUS},
            {"--mem", SLURM, JOB_MEMORY},
            {"@(?(--)gpus|gpu_limit)", CONTAINER, JOB_CONTAINER_GPUS}, /* "gpus=2" of a manifest */
            {"@(--memory|-m|memory|limit)", CONTAINER, JOB_MEMORY},
            {"--num-gpus", RAY, JOB_RAY_GPUS}};

/* GPUs in "2", "a100:2", "gpu:a100:2,nvme:1" (`gres`), "device=0,2"; 0: as many as there are, or not known. */
static double count_gpus(const char *value, bool gres, bool listed)
{
    double number = 0;
    size_t length, last;
    for (value += strspn(value, "\"'"); *value != '\0' && strchr("\"'", *value) == NULL;
         value += length + (value[length] == ',')) {
        length = last = strcspn(value, ",\"'(");
        listed = listed || fnmatch("@(device|nvidia.com/gpu)=*", value, FNM_EXTMATCH) == 0;
        if (listed && strchr(value, '$') != NULL) { /* which may be several */
            return 0;
        }
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

void server_job_read(const struct server_text *said, struct server_job *job, const char *from,
                     const char *end)
{
    char word[4096], value[4096];
    bool script = strncmp(from, "#SBATCH", 7) == 0, behind = false; /* an option without a value */
    unsigned of = script ? SLURM : said->container ? CONTAINER : 0;
    for (from += script ? 7 : 0; from < end;) {
        if (!shell_word(&from, word, sizeof word)) {
            from++;
            continue;
        }
        /* "--gpus=2", "-G2", or "--gpus" with the value behind it */
        bool option = word[0] == '-', gres = strncmp(word, "--gres", 6) == 0;
        char *given = word + strcspn(word, option && word[1] != '-' ? "=0123456789" : "=");
        const char *next = from;
        bool alone = *given == '\0', plain = alone && !option && !behind;
        snprintf(value, sizeof value, "%s", given + (*given == '='));
        if (alone && !shell_word(&next, value, sizeof value)) {
            value[0] = '\0';
        }
        *given = '\0';
        of = plain ? 0 : of;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            enum job_count counts = rows[i].counts;
            bool is = fnmatch(rows[i].names, word, FNM_EXTMATCH) == 0;
            if (is && counts == JOB_STARTS) {
                of = plain ? rows[i].of : of;
            } else if (is && (rows[i].of & of) != 0) {
                state(job, counts,
                      counts == JOB_MEMORY
                          ? count_bytes(value, of == SLURM ? 'M' : 'B', word[0] == 'l')
                      : counts >= JOB_GPUS ? count_gpus(value, gres, false)
                                           : atof(value),
                      said->line);
            }
        }
        job->line[JOB_RAY_GPUS] = of == RAY ? said->line : job->line[JOB_RAY_GPUS];
        behind = option && alone;
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
                    {"* MIG [0-9]g.[0-9]*gb*", "a slice of a GPU"},
                    {"*--device*/dev/@(kfd|dri|davinci)*", "a GPU of another maker"},
                    {"*nvidia-cuda-mps-control*", "a shared GPU"},
                    {"*nvidia-smi* @(-pl|--power-limit)*", "a GPU with less power"},
                    {"*nvidia-smi* @(-lgc|--lock-gpu-clocks)*", "a GPU with slower clocks"}};
    bool slurm = strncmp(line, "#SBATCH", 7) == 0;
    const char *ray = shell_is_comment(line) ? NULL : strstr(line, "ray start ");
    if (strcasestr(line, "ray cluster") != NULL || strstr(line, "ray_cluster") != NULL ||
        (strstr(line, "executor") != NULL && fnmatch("*executor*[=: '\"]ray*", line, 0) == 0)) {
        said->job.line[JOB_RAY_GPUS] = said->line; /* stages may stand on several machines */
    }
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
    bool beside = gpu_users_find(said, line);
    bool shell = said->command_line == 0 && !beside &&
                 !shell_is_comment(line) && /* whose words follow */
                 (strstr(line, " run ") != NULL || strstr(line, "--pty") != NULL ||
                  strstr(line, "salloc ") != NULL);
    if (slurm || shell || ray != NULL) {
        server_job_read(said, &said->job, ray != NULL ? ray : line, line + strlen(line));
    }
    const double *asked = said->job.number;
    double nodes = fmax(1, asked[JOB_NODES]), gpus = ceil(asked[JOB_GPUS] / nodes);
    gpus = asked[JOB_NODE_GPUS] > 0 ? asked[JOB_NODE_GPUS] : gpus;
    if (slurm) { /* what its script finds in variables */
        char sets[160];
        int length =
            snprintf(sets, sizeof sets, "SLURM_NNODES=%.0f SLURM_JOB_NUM_NODES=%.0f", nodes, nodes);
        snprintf(sets + length, gpus > 0 ? sizeof sets - (size_t)length : 0,
                 " SLURM_GPUS_ON_NODE=%.0f SLURM_GPUS_PER_NODE=%.0f", gpus, gpus);
        free(shell_expanded(said, sets));
    }
}

void server_job_check(struct server_text *said, uint64_t tensor, uint64_t ranks, uint64_t stages)
{
    const struct server_job *job = &said->job;
    uint64_t all = tensor * ranks * stages;
    double nodes = fmax(1, job->number[JOB_NODES]), sees = INFINITY;
    double tasks = fmax(1, fmax(job->number[JOB_NODE_TASKS], ceil(job->number[JOB_TASKS] / nodes)));
    gpu_users_check(said, all);
    for (int i = JOB_GPUS; i <= JOB_RAY_GPUS; i++) {
        double here = job->number[i] * (i == JOB_TASK_GPUS ? tasks : 1);
        here = i == JOB_GPUS ? ceil(here / nodes) : here;
        said->line = here > 0 && here < sees ? job->line[i] : said->line;
        sees = here > 0 ? fmin(sees, here) : sees;
    }
    bool split = (double)tensor > sees, ray = job->line[JOB_RAY_GPUS] > 0;
    if (split || (!ray && (double)all > nodes * sees)) {
        error_expect(server_text_refuse(said, "the server is on %u GPUs%s, and sees %.0f",
                                        (unsigned)(split ? tensor : all),
                                        split ? " of a machine" : "", split ? sees : nodes * sees),
                     "--set tensor_parallel=N, or the text without that limit");
    } else if (ranks * stages > 1 && (nodes > 1 || ray)) {
        server_text_pass(said, "machines", "what they exchange is computed as if they were one");
    }
}
