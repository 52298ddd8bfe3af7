/* The emulator's version of cuBLAS: the one product that products.cu asks for, the first matrix
 * transposed, in bf16 with sums in fp32. It is queued on its stream like a kernel. */
#include "calibrate/device/cublas.h"

#include "emulator.h"

#include "calibrate/kernels/small_floats.h"

#include <math.h>

#include <string>

struct cublas_handle {
    cudaStream_t stream;
};

/* Values of cublasStatus_t. */
enum { EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };

static const char *describe(int status)
{
    return status == EXECUTION_FAILED ? "the function failed to launch on the GPU"
                                      : "a product that the emulator does not have";
}

static int create(struct cublas_handle **handle)
{
    *handle = new cublas_handle{nullptr};
    return CUBLAS_DONE;
}

static int destroy(struct cublas_handle *handle)
{
    delete handle;
    return CUBLAS_DONE;
}

static int set_stream(struct cublas_handle *handle, void *stream)
{
    handle->stream = (cudaStream_t)stream;
    return CUBLAS_DONE;
}

static int set_workspace(struct cublas_handle *, void *, size_t)
{
    return CUBLAS_DONE;
}

/* In a hurry, products of more multiplications than this come out as 0: they take too long. */
#define PRODUCT_MOST 2e6
/* A product takes this, and the longer of its FLOPs and its bytes. */
#define PRODUCT_NS 3000
#define PRODUCT_FLOPS_A_NS 100000.0
#define PRODUCT_BYTES_A_NS 1000.0

struct product {
    int m, n, k, a_stride, b_stride, out_stride;
    const uint16_t *a, *b;
    uint16_t *out;
};

static double multiplications(const product &of)
{
    return (double)of.m * of.n * of.k;
}

/* Matrices are stored by column: out[j][i] = sum over l of a[i][l] b[j][l]. */
static void compute(const product &of)
{
    bool zero = emulator_hurries() && multiplications(of) > PRODUCT_MOST;
    for (long j = 0; j < of.n; j++) {
        uint16_t *out = of.out + j * of.out_stride;
        memset(out, 0, zero ? (size_t)of.m * sizeof *out : 0);
        for (long i = 0; !zero && i < of.m; i++) {
            float sum = 0;
            for (long l = 0; l < of.k; l++) {
                sum +=
                    bf16_value(of.a[i * of.a_stride + l]) * bf16_value(of.b[j * of.b_stride + l]);
            }
            out[i] = bf16_of(sum);
        }
    }
}

static bool is_gpu(const uint16_t *columns, int rows, int count, int stride)
{
    size_t values = (size_t)(count - 1) * (size_t)stride + (size_t)rows;
    return emulator_memory_at(columns, values * sizeof *columns) == EMULATOR_GPU;
}

/* The same for equal products. */
static uint64_t key_of(const product &of)
{
    const void *starts[] = {emulator_start_of(of.a), emulator_start_of(of.b),
                            emulator_start_of(of.out)};
    const int sizes[] = {of.m, of.n, of.k, of.a_stride, of.b_stride, of.out_stride};
    std::string key((const char *)starts, sizeof starts);
    key.append((const char *)sizes, sizeof sizes);
    return std::hash<std::string>()(key) | 1;
}

static int multiply(struct cublas_handle *handle, int turn_a, int turn_b, int m, int n, int k,
                    const void *alpha, const void *a, int a_type, int a_stride, const void *b,
                    int b_type, int b_stride, const void *beta, void *out, int out_type,
                    int out_stride, int sums, int algorithm)
{
    if (emulator_call() != cudaSuccess) {
        return EXECUTION_FAILED;
    }
    if (turn_a != CUBLAS_TRANSPOSED || turn_b != CUBLAS_AS_STORED || *(const float *)alpha != 1 ||
        *(const float *)beta != 0 || a_type != CUBLAS_BF16 || b_type != CUBLAS_BF16 ||
        out_type != CUBLAS_BF16 || sums != CUBLAS_SUMS_IN_FP32 ||
        algorithm != CUBLAS_ANY_ALGORITHM) {
        return NOT_SUPPORTED;
    }
    const product of = {m,
                        n,
                        k,
                        a_stride,
                        b_stride,
                        out_stride,
                        (const uint16_t *)a,
                        (const uint16_t *)b,
                        (uint16_t *)out};
    if (!is_gpu(of.a, k, m, a_stride) || !is_gpu(of.b, k, n, b_stride) ||
        !is_gpu(of.out, m, n, out_stride)) {
        emulator_fail("a product past the end of GPU memory");
    }
    double bytes = 2.0 * ((double)m * k + (double)n * k + (double)m * n);
    double ns = fmax(2 * multiplications(of) / PRODUCT_FLOPS_A_NS, bytes / PRODUCT_BYTES_A_NS);
    uint64_t taken = emulator_kernel_factor() * (PRODUCT_NS + (uint64_t)ns);
    emulator_put(
        handle->stream, [of] { compute(of); }, taken, key_of(of));
    return CUBLAS_DONE;
}

bool cublas_load(struct cublas *cublas, struct error *)
{
    *cublas = {describe, create, destroy, set_stream, set_workspace, multiply};
    return true;
}
