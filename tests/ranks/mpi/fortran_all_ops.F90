! fortran_all_ops: the calls that most Fortran codes use, with the old module or, with -DF08, the new one:
! blocking and nonblocking collectives, messages of all kinds, waits, communicators. Prints its book as JSON.
program fortran_all_ops
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: most = 16, big = 20000
  integer :: rank, ranks, next, before, error, i, index, done_count, wrong
  integer :: mine(most), all(most * most), counts(most), displs(most), indices(4)
  integer :: out(big), in(big)
  logical :: flag
#ifdef F08
  type(MPI_Comm) :: twin, half, grid
  type(MPI_Request) :: q(4)
  type(MPI_Status) :: status, statuses(4)
#else
  integer :: twin, half, grid, q(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  wrong = 0
  mine = rank + 1
  counts = 1
  displs = [(i, i = 0, most - 1)]

  call MPI_Comm_dup(MPI_COMM_WORLD, twin, error)
  call MPI_Comm_split(twin, mod(rank, 2), rank, half, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., grid, error)

  call MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_INTEGER, MPI_MAX, twin, error)
  if (mine(1) /= ranks) wrong = wrong + 1
  mine = rank + 1
  call MPI_Scan(mine, all, 2, MPI_INTEGER, MPI_SUM, twin, error)
  call MPI_Exscan(mine, all, 2, MPI_INTEGER, MPI_SUM, twin, error)
  call MPI_Reduce_scatter(all, mine, counts, MPI_INTEGER, MPI_SUM, twin, error)
  call MPI_Reduce_scatter_block(all, mine, 1, MPI_INTEGER, MPI_SUM, twin, error)
  mine = rank + 1
  call MPI_Gather(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, twin, error)
  call MPI_Gatherv(mine, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, twin, error)
  call MPI_Scatter(all, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, 0, twin, error)
  call MPI_Scatterv(all, counts, displs, MPI_INTEGER, mine, 1, MPI_INTEGER, 0, twin, error)
  call MPI_Allgather(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, grid, error)
  if (all(ranks) /= ranks) wrong = wrong + 1
  call MPI_Allgatherv(mine, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, grid, error)
  call MPI_Alltoall(all, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, grid, error)
  call MPI_Alltoallv(all, counts, displs, MPI_INTEGER, mine, counts, displs, MPI_INTEGER, grid, error)

  call MPI_Iallreduce(mine, all, 4, MPI_INTEGER, MPI_SUM, half, q(1), error)
  call MPI_Ibarrier(half, q(2), error)
  call MPI_Ibcast(counts, 1, MPI_INTEGER, 0, half, q(3), error)
  call MPI_Waitall(3, q, MPI_STATUSES_IGNORE, error)

  out = rank
  call MPI_Irecv(in, big, MPI_INTEGER, before, 1, twin, q(1), error)
  call MPI_Isend(out, big, MPI_INTEGER, next, 1, twin, q(2), error)
  call MPI_Waitany(2, q, index, status, error)
  call MPI_Waitsome(2, q, done_count, indices, statuses, error)
  if (in(big) /= before) wrong = wrong + 1
  call MPI_Irecv(in, big, MPI_INTEGER, before, 2, twin, q(1), error)
  call MPI_Ssend(out, 1, MPI_INTEGER, next, 2, twin, error)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(q(1), flag, status, error)
  end do
  call MPI_Sendrecv(out, 1, MPI_INTEGER, next, 3, in, 1, MPI_INTEGER, before, 3, twin, status, error)
  call MPI_Send(out, 1, MPI_INTEGER, next, 4, twin, error)
  call MPI_Probe(before, 4, twin, status, error)
  call MPI_Recv(in, 1, MPI_INTEGER, before, 4, twin, status, error)
  if (in(1) /= before) wrong = wrong + 1

  call MPI_Comm_free(grid, error)
  call MPI_Comm_free(half, error)
  call MPI_Comm_free(twin, error)
  call MPI_Finalize(error)
  print '(a,i0,a,i0,5a)', '{"rank":', rank, ',"checksum":', wrong, ',"counts":{"init":1,"comm_create":3,', &
    '"all_reduce":2,"scan":1,"exscan":1,"reduce_scatter":1,"reduce_scatter_block":1,"gather":1,"gatherv":1,', &
    '"scatter":1,"scatterv":1,"all_gather":1,"all_gatherv":1,"all_to_all":1,"all_to_allv":1,"barrier":1,', &
    '"broadcast":1,"wait":1,"wait_any":2,"recv":3,"send":2,"ssend":1,"sendrecv":1,"probe":1,', &
    '"comm_free":3,"finalize":1}}'
  if (wrong /= 0) stop 1
end program
