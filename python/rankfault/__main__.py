"""rankfault.__main__: `python -m rankfault` is the command `rankfault`."""
from rankfault import main

main()
