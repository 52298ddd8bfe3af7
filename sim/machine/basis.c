/* The basis of a result: a result is as good as the worst figure in it. */
#include "core/name.h"
#include "machine/profile.h"

const char *const basis_names[BASIS_COUNT + 1] = {
    [BASIS_MEASURED] = "measured",
    [BASIS_PUBLISHED] = "published",
    [BASIS_DATASHEET] = "datasheet",
    [BASIS_ASSUMED] = "assumed",
    [BASIS_COUNT] = NULL,
};

static const char *name_of_row(size_t row)
{
    return basis_names[row];
}

const char *basis_name(enum basis basis)
{
    return basis_names[basis];
}

bool basis_find(const char *name, const char *file, int line, enum basis *out, struct error *why)
{
    int row = name_find(name, name_of_row, "basis", file, line, why);
    if (row < 0) {
        return false;
    }
    *out = (enum basis)row;
    return true;
}

void trust_add(struct trust *trust, struct trust other)
{
    if (other.basis > trust->basis || (other.basis == trust->basis && trust->assumed == NULL)) {
        trust->assumed = other.assumed;
    }
    trust->basis = other.basis > trust->basis ? other.basis : trust->basis;
    trust->extrapolated = trust->extrapolated || other.extrapolated;
}
