/* hydra_job.h: identifies the job of MPICH's launcher that this process belongs to. */
#ifndef RANKFAULT_MPI_HYDRA_JOB_H
#define RANKFAULT_MPI_HYDRA_JOB_H

#include <stdint.h>

uint64_t rf_hydra_job(void); /* equal on all ranks that one proxy started; 0: unknown */

#endif /* RANKFAULT_MPI_HYDRA_JOB_H */
