! fortran_hang: three steps, then rank 1 makes an all-reduce where the others make a barrier, with the old
! module or, with -DF08, the new one.
program fortran_hang
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, step, error
  real :: mine(16), total(16)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  mine = 1
  do step = 1, 3
    call MPI_Allreduce(mine, total, 16, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  if (rank == 1) then
    call MPI_Allreduce(mine, total, 16, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  else
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end if
  call MPI_Finalize(error)
end program
