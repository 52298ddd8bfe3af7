/* Standard output and standard error, on which a terminal obeys nothing: what a name, a value or a
 * file says there is visible (QUOTE_LINE of core/quote.h), whoever prints it. Lines and tabs stay. */
#pragma once

/* Call it once, before anything is printed. Without memory the streams stay as they are. */
void visible_streams(void);
