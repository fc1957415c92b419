"""The parts of the lab that are written in Python: see ../../lab.sh.

They are run with scripts/lib in PYTHONPATH, as python3 -m lab.NAME. On the
host: uml, keeper, switch, client; in a node: agent. Both sides: frames.
"""
