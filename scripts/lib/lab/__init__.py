"""The lab, which ../../lab.sh starts.

On the caller's side: __main__ (the command line), run, manage, client, and up, with what it
chooses from (choose, kernel). The process that owns a lab: keeper, with its nodes (node) and
what runs them (uml, qemu, in a sandbox). In a node: agent. What the two sides say to each
other: frames.
"""
