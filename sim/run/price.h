/* The cost of output tokens: the price of a GPU hour, divided by the tokens made in that hour. No
 * other cost is counted, and an hour is paid whether the GPU is busy or not. */
#ifndef RUN_PRICE_H
#define RUN_PRICE_H

#include "hardware/profile.h"
#include "result/result.h"

/* Fill in the cost of a result that has its rate of one GPU. The cost stays null if the machine has
 * no price, or if no token is made. */
void price_write(const struct profile *machine, struct result *result);

#endif
