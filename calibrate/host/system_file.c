#include "calibrate/host/system_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool system_read(struct system_text *text, const char *root, const char *format, ...)
{
    char path[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(path, sizeof path, "%s", root);
    vsnprintf(path + length, sizeof path - (size_t)length, format, arguments);
    va_end(arguments);
    text->bytes[0] = '\0';
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    size_t size = fread(text->bytes, 1, sizeof text->bytes - 1, file);
    text->bytes[size] = '\0';
    fclose(file);
    return size > 0;
}

uint64_t system_number(const struct system_text *text, const char *key)
{
    const char *at = strstr(text->bytes, key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}
