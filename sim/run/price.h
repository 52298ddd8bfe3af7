/* What output tokens cost: the price of a GPU's hour over the tokens that it makes in one. Nothing
 * else is counted, and an hour is paid whether the GPU is busy or not. */
#ifndef RUN_PRICE_H
#define RUN_PRICE_H

#include "hardware/profile.h"
#include "result/result.h"

/* Fill in the cost, of a result that has its rate of one GPU. It stays null where the machine has
 * no price, or no token is made. */
void price_write(const struct profile *machine, struct result *result);

#endif
