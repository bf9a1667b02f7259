! fortran_more_ops: calls that fewer Fortran codes use, with the old module or, with -DF08, the new one:
! persistent messages, matched probes, exchanges with a type per rank or over neighbours, more communicators.
! -DMPIX: also the persistent collectives as Open MPI 4 has them. Prints its own book as one JSON line.
program fortran_more_ops
#ifdef F08
  use mpi_f08
#ifdef MPIX
  use mpi_f08_ext
#endif
#else
  use mpi
#ifdef MPIX
  use mpi_ext
#endif
#endif
  implicit none
  integer, parameter :: most = 16
  integer :: rank, ranks, next, before, error, i, wrong, started, parity, remote
  integer :: mine(most), got(most), counts(most), displs(most), row(2 * most)
  integer(MPI_ADDRESS_KIND) :: nothing
  logical :: flag
#ifdef F08
  type(MPI_Comm) :: twin, group_comm, ring, graph, half, inter, merged
  type(MPI_Group) :: world_group
  type(MPI_Request) :: q(2), one
  type(MPI_Message) :: message
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Datatype) :: types(most)
#else
  integer :: twin, group_comm, ring, graph, half, inter, merged, world_group, q(2), one, message
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), types(most)
#endif

  call MPI_Init_thread(MPI_THREAD_SINGLE, i, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  wrong = 0
  mine = rank
  counts = 1
  displs = [(4 * i, i = 0, most - 1)]
  types = MPI_INTEGER
  nothing = 0

  call MPI_Comm_idup(MPI_COMM_WORLD, twin, one, error)
  call MPI_Wait(one, MPI_STATUS_IGNORE, error)
  call MPI_Comm_group(MPI_COMM_WORLD, world_group, error)
  call MPI_Comm_create_group(MPI_COMM_WORLD, world_group, 7, group_comm, error)
  call MPI_Dist_graph_create_adjacent(twin, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., ring, error)
  call MPI_Graph_create(twin, ranks, [(2 * i, i = 1, ranks)], &
    [(mod(i / 2 + ranks - 1 + 2 * mod(i, 2), ranks), i = 0, 2 * ranks - 1)], .false., graph, error)
  parity = mod(rank, 2)
  call MPI_Comm_split_type(twin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, half, error)
  call MPI_Comm_disconnect(half, error)
  call MPI_Comm_split(twin, parity, rank, half, error)
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - parity, 8, inter, error)
  call MPI_Intercomm_merge(inter, parity == 1, merged, error)

  call MPI_Neighbor_alltoall(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, error)
  if (got(1) /= before) wrong = wrong + 1
  call MPI_Ineighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, one, error)
  call MPI_Wait(one, status, error)
  if (got(1) /= before .or. got(2) /= next) wrong = wrong + 1
  call MPI_Neighbor_allgatherv(mine, 1, MPI_INTEGER, got, counts, [0, 1], MPI_INTEGER, graph, error)
  call MPI_Neighbor_alltoallv(mine, counts, [0, 1], MPI_INTEGER, got, counts, [0, 1], MPI_INTEGER, graph, error)
  call MPI_Alltoallw(mine, counts, displs, types, got, counts, displs, types, twin, error)
  if (got(ranks) /= ranks - 1) wrong = wrong + 1
  got = -1
  got(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 1, MPI_INTEGER, twin, error)
  if (got(ranks) /= ranks - 1) wrong = wrong + 1
  call MPI_Barrier(merged, error)
  call MPI_Reduce(mine, got, 2, MPI_INTEGER, MPI_SUM, 0, group_comm, error)

  mine = rank
  call MPI_Send_init(mine, 2, MPI_INTEGER, next, 1, twin, q(1), error)
  call MPI_Recv_init(got, 2, MPI_INTEGER, before, 1, twin, q(2), error)
  do started = 1, 3
    call MPI_Startall(2, q, error)
    call MPI_Waitall(2, q, statuses, error)
    if (got(2) /= before) wrong = wrong + 1
  end do
  call MPI_Start(q(2), error)
  call MPI_Start(q(1), error)
  call MPI_Wait(q(1), status, error)
  call MPI_Wait(q(2), status, error)
  call MPI_Request_free(q(1), error)
  call MPI_Request_free(q(2), error)

  call MPI_Sendrecv_replace(mine, 2, MPI_INTEGER, next, 2, before, 2, twin, status, error)
  if (mine(1) /= before) wrong = wrong + 1
  mine = rank
  call MPI_Isend(mine, 1, MPI_INTEGER, next, 3, twin, one, error)
  call MPI_Mprobe(before, 3, twin, message, status, error)
  call MPI_Mrecv(got, 1, MPI_INTEGER, message, status, error)
  call MPI_Wait(one, status, error)
  call MPI_Isend(mine, 1, MPI_INTEGER, next, 4, twin, one, error)
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(before, 4, twin, flag, message, status, error)
  end do
  call MPI_Imrecv(got, 1, MPI_INTEGER, message, q(1), error)
  call MPI_Wait(q(1), status, error)
  call MPI_Wait(one, status, error)
  row = rank
#ifdef F08
  call MPI_Isend(row(1:2 * most:2), most, MPI_INTEGER, next, 5, twin, one, error)  ! every other one
#else
  call MPI_Isend(row, most, MPI_INTEGER, next, 5, twin, one, error)
#endif
  call MPI_Recv(got, most, MPI_INTEGER, before, 5, twin, status, error)
  call MPI_Wait(one, status, error)
  if (got(most) /= before) wrong = wrong + 1
#ifdef MPIX
  call MPIX_Allreduce_init(mine, got, 1, MPI_INTEGER, MPI_MAX, twin, MPI_INFO_NULL, one, error)
  call MPI_Start(one, error)
  call MPI_Wait(one, status, error)
  if (got(1) /= ranks - 1) wrong = wrong + 1
  call MPI_Request_free(one, error)
#define PERSISTENT '"persistent_init":1,"all_reduce":1,'
#define WAITS 13
#else
#define PERSISTENT ''
#define WAITS 12
#endif
  call MPI_Comm_free(merged, error)
  call MPI_Comm_free(inter, error)
  call MPI_Comm_free(half, error)
  call MPI_Comm_free(graph, error)
  call MPI_Comm_free(ring, error)
  call MPI_Comm_free(group_comm, error)
  call MPI_Comm_free(twin, error)
  call MPI_Finalize(error)
  print '(a,i0,a,i0,2a,i0,5a)', '{"rank":', rank, ',"checksum":', wrong, ',"counts":{"init":1,"comm_create":8,', &
    PERSISTENT//'"wait":', WAITS, ',"neighbor_all_to_all":1,"neighbor_all_gather":1,', &
    '"neighbor_all_gatherv":1,"neighbor_all_to_allv":1,"all_gather":1,"all_to_allw":1,"barrier":1,"reduce":1,', &
    '"send":7,"recv":7,"sendrecv":1,', &
    '"comm_free":8,"finalize":1}}'
  if (wrong /= 0) stop 1
end program
