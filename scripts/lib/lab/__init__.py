"""The lab, which ../../lab.sh starts.

On the caller's side: __main__ (the command line), up, run, manage, client. The process that
owns a lab: keeper, with its nodes (node) and what runs them (choose, uml, qemu). In a node:
agent. What the two sides say to each other: frames.
"""
