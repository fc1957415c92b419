"""The lab, which ../../lab.sh starts.

On the caller's side: __main__ (the command line), up, manage, commands, client. The process
that owns a lab: keeper, with its nodes (node, visitor) and what runs them (uml, qemu).
In a node: agent, job. What the two sides say to each other: frames.
"""
