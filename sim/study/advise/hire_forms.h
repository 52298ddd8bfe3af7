/* The forms of a hire. Internal to hire*.c. */
#ifndef STUDY_ADVISE_HIRE_FORMS_H
#define STUDY_ADVISE_HIRE_FORMS_H

#include "study/advise/hire.h"

/* List all forms in `out`, those that cannot be with their reason. Fails if none can be. */
bool hire_list_forms(const struct scenario *scenario, const struct hire_options *options,
                     struct hire *out, struct error *why);

#endif
