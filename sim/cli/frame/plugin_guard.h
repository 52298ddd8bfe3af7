/* When a plug-in takes the program down.
 *
 * A policy of the user's own runs in this process, after a trial in another one (policy/plugin.h).
 * If it crashes later, or calls exit(), nothing of the run can be saved; but the user is told whose
 * fault it is, by one message, and the exit status is that of any failure. Results that a database
 * has are whole: each was put there in one transaction. Not caught: _exit(), and a stack that
 * overflows.
 */
#ifndef CLI_FRAME_PLUGIN_GUARD_H
#define CLI_FRAME_PLUGIN_GUARD_H

/* Once, before any plug-in is asked. Crashes and ends that are not a plug-in's go on as they would.
 */
void plugin_guard_install(void);

#endif
