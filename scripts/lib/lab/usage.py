"""What lab.sh -h says."""
from lib.lab.settings import Settings

TEXT = r"""Usage: scripts/lab.sh up [--nodes 1..4] [--device rxe|siw] [--engine kvm|uml|tcg]
       scripts/lab.sh status
       scripts/lab.sh shell [NODE]
       scripts/lab.sh exec [-u USER] [NODE] -- COMMAND [ARGUMENT...]
       scripts/lab.sh run [--nodes N] [--device rxe|siw] [--engine kvm|uml|tcg]
                          [--kernel DIR] [--loss P] [--capture FILE]
                          [--on NODE COMMAND]... -- COMMAND [ARGUMENT...]
       scripts/lab.sh reset NODE
       scripts/lab.sh down
       scripts/lab.sh fetch
       scripts/lab.sh kernel

The lab runs one to four nodes, a to d, each with a Linux kernel of its own and
a real RDMA device, rxe0, on the network device eth0:
    node a   192.0.2.1   2001:db8::1
    node b   192.0.2.2   2001:db8::2        and so on
They see this machine's file system read-only, with a writable layer in memory
(gone at the end), and this repository at the same path, read-write. They have their
own /tmp, /run and /root. Root in a node can read the files that you may read here, but
not this machine's /root, /run and /tmp. It can write what you may write of the
repository, except .git: so what you then run from the repository may be its work.
Files that it writes belong to you and are never setuid. It has nothing to do with this
machine's processes, network and devices, or with your environment and your keys.
bwrap and a filter of system calls enforce that; where they do not work, there is no
engine uml, and `up` warns.
The lab needs no root and no KVM; if root starts it, it warns.

up      starts the lab, with two nodes unless --nodes says otherwise. Packets
        between the nodes cross a wire that tcpdump can watch. A lab that is up
        stays as it is. With --device siw the device is siw0 instead, which
        carries RDMA over TCP (iWARP).
        The engine is what runs the nodes. Without --engine, the lab uses the first
        of these that works here:
        kvm   virtual machines with Debian's kernel, where a guest really boots
              in /dev/kvm
        uml   User-Mode Linux: the kernel is an ordinary process, one processor
              a node, up in two seconds. `make lab-kernel` builds it, once
        tcg   virtual machines with Debian's kernel, emulated: about ten times
              slower, and everywhere
status  says what runs; status 0 if the lab is up, else 1.
shell   opens a shell on a node (a if none is named), as root.
exec    runs a command on a node, without a terminal: standard input, output
        and error and the arguments are passed as they are; so are the signals
        INT, TERM, HUP, QUIT, USR1 and USR2, and the exit status (128+N if
        signal N ended it; 255 if the lab itself failed). The working directory
        is the same, if it is inside the repository, else the repository. As
        root locked memory is unlimited; as another user (-u nobody) it is
        8 MB, the kernel's default.
run     starts a lab of its own, runs the command on node a, in the folder where you
        are, ends the lab, and has the command's exit status. It is for the tests of
        any project. Environment: LAB_A, LAB_B and so on are the nodes' addresses,
        LAB_A6, LAB_B6 those of IPv6, and LAB_NODE is the node's own name. --on runs a
        shell command beside it; it is ended with the other, and if it had failed
        before, that is the exit status of a run that succeeded. --loss loses P percent
        of what each node sends. --capture writes what node a sends and receives to a
        file. --kernel boots that of packages of Debian's, unpacked in DIR.
reset   is the reset button: the node stops in the middle of whatever it does,
        tells nobody, and boots again. Its programs are gone, and so is its
        memory, with all its files except the repository's.
down    ends the lab; nothing remains.
fetch   downloads what `make demo` needs from a network, for when there is none:
        the packages that scripts/install_deps.sh would install, and a kernel.
kernel  builds the kernel of the engine uml, unless it is there (make lab-kernel;
        some ten minutes, and 170 MB from the network, once).

Environment (defaults in brackets):
    LAB_NAME     several labs can run at once, by name [{LAB_NAME}]
    LAB_DEVICE   rxe or siw, where --device does not say [rxe]
    LAB_KERNEL   kernel image to boot [this machine's own if it has rdma_rxe,
                 else one that is fetched into the cache]
    LAB_MODULES  its modules [/lib/modules/VERSION]
    LAB_ENGINE   kvm, uml or tcg, where --engine does not say
    LAB_MEMORY   memory of each node in MB [{LAB_MEMORY}]
    LAB_CACHE    where a fetched kernel is kept [{LAB_CACHE}]

Programs that you install while the lab is up may not be visible in it: restart
it. In exec, use pkill -x rather than pkill -f, which would match the shell
that runs it, too. Example:
    scripts/lab.sh up
    scripts/lab.sh exec b -- ibv_rc_pingpong -g 1 &
    scripts/lab.sh exec a -- ibv_rc_pingpong -g 1 192.0.2.2
    scripts/lab.sh down
"""


def usage(settings: Settings) -> str:
    """With the defaults, or what is said instead of them."""
    return TEXT.format(
        LAB_NAME=settings.name, LAB_MEMORY=settings.memory, LAB_CACHE=settings.cache)
