"""__main__: runs a command of the cluster: python3 tests/cluster COMMAND."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cluster import commands  # noqa: E402

sys.exit(commands.main(sys.argv[1:]))
