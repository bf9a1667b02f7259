"""cluster: nodes with own networks, mounts, host names and process ids on one machine, with Slurm on them."""
from .testing import Cluster

__all__ = ["Cluster"]
