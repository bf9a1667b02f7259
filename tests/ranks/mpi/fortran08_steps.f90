! fortran08_steps: the step loop in Fortran, with mpi_f08, without error arguments; prints its own book as
! JSON.
program fortran08_steps
  use mpi_f08
  implicit none
  real :: mine(16), total(16)
  integer :: rank, ranks, step, flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  flag = 0
  do step = 1, 7
    mine = real(rank + step)
    call MPI_Allreduce(mine, total, 16, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Bcast(flag, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  end do
  call MPI_Reduce(mine, total, 16, MPI_REAL, MPI_MAX, 0, MPI_COMM_WORLD)
  if (rank == 0) call MPI_Send(flag, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD)
  if (rank == 1) call MPI_Recv(flag, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
  print '(a,i0,a)', '{"rank":', rank, ',"counts":{"init":1,"all_reduce":7,"broadcast":7,"reduce":1,"barrier":1,"finalize":1}}'
end program
