/* pipeline.c: pipeline-parallel training over MPI by the schedule 1F1B (one forward, one backward).
 *
 *   mpirun -np 4 pipeline [--steps=N] [--microbatches=N] [--forgets=STAGE:STEP]
 *
 * Each rank is a stage. It sends activations down to the next stage and gradients up to the previous one.
 * With --forgets, this stage does not send up the gradient of the last microbatch of that step. The program
 * has no code for rankfault. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWidth = 64, kForward = 1000, kBackward = 2000 };

static int stage, stages, steps = 5, microbatches = 6, forgetful = -1, forgets_in = 0;

static void take(float* numbers, int from, int tag) {
  if (from < 0 || from >= stages) return;
  MPI_Recv(numbers, kWidth, MPI_FLOAT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give(const float* numbers, int to, int tag) {
  if (to < 0 || to >= stages) return;
  MPI_Send(numbers, kWidth, MPI_FLOAT, to, tag, MPI_COMM_WORLD);
}

static void forward(float* activations, int microbatch) {
  take(activations, stage - 1, kForward + microbatch);
  for (int i = 0; i < kWidth; ++i) activations[i] = activations[i] * 0.5f + (float)(stage + microbatch);
  give(activations, stage + 1, kForward + microbatch);
}

static void backward(float* gradients, int microbatch, int step) {
  take(gradients, stage + 1, kBackward + microbatch);
  for (int i = 0; i < kWidth; ++i) gradients[i] = gradients[i] * 0.5f + 1;
  if (stage == forgetful && step == forgets_in && microbatch == microbatches - 1) return;
  give(gradients, stage - 1, kBackward + microbatch);
}

/* A stage first runs forward passes to fill the stages below it, then alternates one forward and one backward
 * pass, and then runs the remaining backward passes. */
static float train_step(int step) {
  float activations[kWidth] = {0}, gradients[kWidth] = {0};
  int ahead = stages - stage - 1, next = 0;
  if (ahead > microbatches) ahead = microbatches;
  while (next < ahead) forward(activations, next++);
  for (int done = 0; done < microbatches; ++done) {
    if (next < microbatches) forward(activations, next++);
    backward(gradients, done, step);
  }
  return gradients[0];
}

int main(int argc, char** argv) {
  float sum = 0;
  for (int i = 1; i < argc; ++i)
    if (sscanf(argv[i], "--steps=%d", &steps) != 1 &&
        sscanf(argv[i], "--microbatches=%d", &microbatches) != 1 &&
        sscanf(argv[i], "--forgets=%d:%d", &forgetful, &forgets_in) != 2) {
      fprintf(stderr, "pipeline: unknown argument %s\n", argv[i]);
      return 64;
    }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &stage);
  MPI_Comm_size(MPI_COMM_WORLD, &stages);
  for (int step = 1; step <= steps; ++step) sum += train_step(step);
  MPI_Finalize();
  printf("stage %d: %d steps, gradients %g\n", stage, steps, sum);
  return 0;
}
