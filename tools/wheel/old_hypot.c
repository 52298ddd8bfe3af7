/* hypot() as the C library had it before version 2.35.
 *
 * Only GSL's complex numbers call it, and nothing here uses those, but they are linked. Without this, that one function
 * would keep the wheel from all systems whose C library is older than 2.35. The linker sends its callers here
 * (--wrap=hypot). */
#ifdef __aarch64__
#define BEFORE "GLIBC_2.17"
#else
#define BEFORE "GLIBC_2.2.5" /* x86-64 */
#endif

double old_hypot(double x, double y);
double __wrap_hypot(double x, double y);
__asm__(".symver old_hypot, hypot@" BEFORE);

double __wrap_hypot(double x, double y)
{
    return old_hypot(x, y);
}
