/* task_environment.h: the variables by which the tool reaches a task and the guardian on its node, through
 * the launcher, and what a task and the guardian say to each other: packets of text on NODE_DIR/socket
 * (SOCK_SEQPACKET). Both C11 and C++20 code include this file.
 *
 *   task -> guardian   "begin PID START"
 *   task -> guardian   "end PID START WAIT_STATUS"
 *   guardian -> task   "ok"    the tool knows of the end, or cannot be reached: the task may end */
#ifndef RANKFAULT_TASK_ENVIRONMENT_H
#define RANKFAULT_TASK_ENVIRONMENT_H

#define RF_TASK_DIR "RANKFAULT_NODE_DIR" /* a folder of the node, not shared with others */
#define RF_TASK_TOOL "RANKFAULT_TOOL"    /* "HOST PORT" */
#define RF_TASK_KEY "RANKFAULT_KEY" /* of the run, 64 digits: the environment is the launcher's channel */
#define RF_TASK_PRELOAD "RANKFAULT_PRELOAD" /* what the task gets in LD_PRELOAD, before its own */

#define RF_TASK_SOCKET "/socket" /* below RF_TASK_DIR */
#define RF_TASK_LOCK "/lock"
#define RF_TASK_PACKET 128

#endif
