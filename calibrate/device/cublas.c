#include "calibrate/device/cublas.h"

#include <dlfcn.h>
#include <glob.h>
#include <string.h>

static void *cublas_open_library(const char *path, struct error *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        error_set(why, NULL, 0, "cuBLAS cannot be loaded: %s", dlerror());
        error_expect(why, "libcublas.so.13, .12 or .11 and its libcublasLt in a folder of "
                          "LD_LIBRARY_PATH or in /usr/local/cuda/lib64");
    }
    return library;
}

/* The order of names has the default version, /usr/local/cuda, first. */
static void *open_installed(const char *pattern, struct error *why)
{
    glob_t found = {.gl_pathc = 0};
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && library == NULL; i++) {
            library = cublas_open_library(found.gl_pathv[i], why);
        }
    }
    globfree(&found);
    return library;
}

/* Where all fails, `why` speaks of an installed file, or else of the newest version. */
static void *open_any(struct error *why)
{
    struct error older;
    void *library = cublas_open_library("libcublas.so.13", why);
    library = library != NULL ? library : cublas_open_library("libcublas.so.12", &older);
    library = library != NULL ? library : cublas_open_library("libcublas.so.11", &older);
    return library != NULL ? library
                           : open_installed("/usr/local/cuda*/lib64/libcublas.so.1[123]", why);
}

/* ISO C has no cast from an object pointer to a function pointer; its bytes can be copied. */
static bool cublas_load_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool cublas_load(struct cublas *cublas, struct error *why)
{
    void *library = open_any(why);
    return library != NULL &&
           ((cublas_load_symbol(library, "cublasGetStatusString", &cublas->describe) &&
             cublas_load_symbol(library, "cublasCreate_v2", &cublas->create) &&
             cublas_load_symbol(library, "cublasDestroy_v2", &cublas->destroy) &&
             cublas_load_symbol(library, "cublasSetStream_v2", &cublas->set_stream) &&
             cublas_load_symbol(library, "cublasSetWorkspace_v2", &cublas->set_workspace) &&
             cublas_load_symbol(library, "cublasGemmEx", &cublas->multiply)) ||
            error_set(why, NULL, 0, "cuBLAS lacks a function: %s", dlerror()));
}
