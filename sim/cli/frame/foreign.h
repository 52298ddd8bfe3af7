/* Code of others that ends the program: a plug-in's, or a library's.
 *
 * A command returns. Whoever calls exit() before it does is such code: its status would pass for
 * that of the command, and nothing would be printed. A plug-in that crashes is named; then the
 * signal ends the program as it would have.
 */
#pragma once

/* Before the command, and after it. */
void foreign_watch(void);
void foreign_end(void);
