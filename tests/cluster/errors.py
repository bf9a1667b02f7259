"""errors: why a command of the cluster ends; each kind has its exit status."""


class ClusterError(Exception):
    """The command failed: a cluster is up already, a daemon did not start."""

    status = 1


class Misuse(ClusterError):
    """The user asked for something that does not exist, or in a wrong form."""

    status = 64


class Unavailable(ClusterError):
    """This machine lacks a right, a program or a feature of its kernel."""

    status = 77
