! fortran_steps: the step loop in Fortran, with the old module; prints its own book as one JSON line.
program fortran_steps
  use mpi
  implicit none
  real :: mine(16), total(16)
  integer :: rank, ranks, step, error, flag
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  flag = 0
  do step = 1, 7
    mine = real(rank + step)
    call MPI_Allreduce(mine, total, 16, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Bcast(flag, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end do
  call MPI_Reduce(mine, total, 16, MPI_REAL, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) call MPI_Send(flag, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, error)
  if (rank == 1) call MPI_Recv(flag, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  print '(a,i0,a)', '{"rank":', rank, ',"counts":{"init":1,"all_reduce":7,"broadcast":7,"reduce":1,"barrier":1,"finalize":1}}'
end program
