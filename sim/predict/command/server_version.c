/* The version that a text states: in a log, of a package that it installs, in words, or in the tag of an image. */
#include "predict/command/server_text.h"

#include "server/server_engine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char server_version_unsaid[] =
    "no line states it, so the preset's counts (--set engine=NAME-N)";

bool server_text_state_version(struct server_text *said, const struct server_program *program,
                               const char *text)
{
    struct stated_key *engine = &said->keys.all[STATED_ENGINE];
    char name[SERVER_ENGINE_NAME], version[SERVER_ENGINE_NAME];
    int length = text == NULL ? 0 : (int)strspn(text, "0123456789.");
    if (length == 0 || text_begins(text, "0.1.dev")) { /* built without the tags that count */
        return false;
    }
    for (int i = 0, dots = 0; i < length; i++) {
        dots += text[i] == '.';
        length = dots == 3 ? i : length; /* 0.10.1.1 answers as 0.10.1 does */
    }
    snprintf(name, sizeof name, "%s-%.*s", program->file, length, text);
    if (!server_engine_canonical(name, version, sizeof version)) {
        return false;
    }
    size_t index = (size_t)(program - said->programs), own = strlen(program->file);
    if (strncmp(engine->value, program->file, own) == 0 && strcmp(engine->value, version) != 0) {
        server_text_pass(said, engine->said, "another version follows, which counts");
    }
    snprintf(said->worded[index].stated, sizeof said->worded->stated, "%s", version + own + 1);
    snprintf(engine->value, sizeof engine->value, "%s", version);
    snprintf(engine->said, sizeof engine->said, "version %s", version + strlen(program->file) + 1);
    engine->line = said->line;
    return true;
}

/* Does a version begin here: three numbers, or two where the text says that it is one? */
static bool begins_version(const char *at, bool said_so)
{
    int numbers = 0;
    for (size_t length; (length = strspn(at, "0123456789")) > 0 && length < 5;
         at += at[length] == '.' ? length + 1 : length) {
        numbers++;
    }
    return numbers >= (said_so ? 2 : 3);
}

/* Take the version behind the program's name: of a package, "pip install 'vllm[flashinfer]==0.9.2'", "module
 * load vllm/0.9.2", "vllm-openai_v0.9.2.sif", the first; and keep those in words, "**vLLM**: v0.8.5", "vllm
 * version: 0.9.2", behind any bytes but ASCII: three numbers, or behind a v or the word version two. */
static void read_named(struct server_text *said, const struct server_program *program,
                       const char *line)
{
    static const char named[] = "*@(module |conda |activate|.sif|.sqsh|.whl|/bin/)*";
    struct server_worded *worded = &said->worded[program - said->programs];
    bool package = shell_is_comment(line);
    int fits = -1;                               /* does the line have one of `named`? */
    bool advised = strstr(line, ".py:") != NULL; /* a log says when an option will be gone */
    for (const char *at = line; (at = strcasestr(at, program->file)) != NULL; at++) {
        const char *name = at + strlen(program->file), *rest = name;
        char before = at > line ? at[-1] : ' ';
        const char *extras = *rest == '[' ? rest + 1 + strcspn(rest + 1, "[]") : "";
        rest = *extras == ']' ? extras + 1 : rest;
        rest += text_begins(rest, "-openai") ? 7 : 0;
        const char *version = rest + strspn(rest, "=-_+/v");
        if (!package && !isalnum((unsigned char)before) && begins_version(version, true) &&
            (text_begins(rest, "==") ||
             (fits = fits < 0 ? text_matches(line, named) : fits) != 0)) {
            server_text_state_version(said, program, version);
            package = true;
        }
        bool marked = false,
             apart = !isalnum((unsigned char)before) && strchr("-_./", before) == NULL;
        for (version = name; *version != '\0';) {
            bool word = strncasecmp(version, "version", 7) == 0, is = text_begins(version, "is ");
            bool mark =
                strchr(" \t*`=:|\"'(,v-@~", *version) != NULL || !isascii((unsigned char)*version);
            if (!word && !is && !mark) {
                break;
            }
            marked = marked || word || *version == 'v';
            version += word ? 7 : is ? 3 : 1;
        }
        if (!advised && apart && version > name && !text_begins(name, "==") &&
            begins_version(version, marked)) {
            char *to = worded->line == 0 ? worded->version : worded->other;
            snprintf(to, sizeof worded->other, "%.*s", (int)strspn(version, "0123456789."),
                     version);
            worded->line = worded->line == 0 ? said->line : worded->line;
        }
    }
}

/* vLLM's logo stands beside its version. An image has it in its tag, and may start another program. */
void server_text_read_version(struct server_text *said, const char *line)
{
    for (const struct server_program *program = said->programs; program->file != NULL; program++) {
        size_t marks = program->versions != NULL ? program->versions->count : 0;
        for (size_t j = 0; j <= marks; j++) {
            const char *mark = j < marks ? program->versions->children[j]->text : program->image;
            const char *at = strstr(line, mark);
            at = at != NULL ? at + strlen(mark) : NULL;
            at += at != NULL && j == marks ? strspn(at, ":v") : 0;
            if (server_text_state_version(said, program, at) && j < marks) {
                said->program = program;
            }
        }
        read_named(said, program, line);
    }
}

/* Take the version of an image of the program, if its tag has one: "v0.29.0", "0.9.1", or behind the
 * program's name, "rocm6.4_vllm_0.9.1". Two plain numbers may be a year and a month: "26.01-py3". An image
 * that is only called after the program, "my-vllm:3.0.0", has versions of its own. */
void server_text_read_image(struct server_text *said, const char *image)
{
    const char *program = said->program->file, *slash = strrchr(image, '/');
    const char *name = slash != NULL ? slash + 1 : image, *tag = strchr(name, ':');
    if (server_program_after(said->program->elsewhere, image, false) != NULL) {
        server_text_refuse(said, "an image for NVIDIA's GPUs: machines of others are not modelled",
                           "'%.200s' is an image for other machines", image);
    }
    struct error unknown;
    const char *latest = server_engine_latest(program, &unknown), *version = NULL;
    bool own = strstr(image, said->program->image) != NULL;
    if (tag != NULL && latest != NULL && text_begins(tag, ":nightly")) {
        version = latest + strlen(program) + 1;
    } else if (tag != NULL && text_begins(name, program) &&
               (server_program_after(said->program->others, image, false) == NULL ||
                strstr(tag, program) != NULL)) {
        const char *behind = strstr(tag, program),
                   *at = behind != NULL ? behind + strlen(program) : tag + 1;
        at += behind != NULL ? strspn(at, "-_") : 0;
        bool named = behind != NULL || *at == 'v';
        at += *at == 'v';
        bool later = latest != NULL && !own && atoi(at) > atoi(latest + strlen(program) + 1);
        version = !later && begins_version(at, named) ? at : NULL;
    }
    if (!server_text_state_version(said, said->program, version) && strstr(name, program) != NULL &&
        !(own && (tag == NULL || strcmp(tag, ":latest") == 0)) &&
        (tag != NULL || said->keys.all[STATED_ENGINE].value[0] == '\0')) {
        server_text_pass(said, name, server_version_unsaid);
    }
}
