#!/usr/bin/env python3
"""container.py - run a command in a container made by runc, as Docker would

usage: container.py [--network NAME] [--device PATH]... [--volume PATH]...
                    [--memlock BYTES] [--cap-add NAME]... COMMAND [ARGUMENT...]

Runs where the lab's nodes are, as root. The container sees this machine's files,
read-only, and this repository, and has mount, PID, IPC, host name and network
namespaces of its own, a /dev of its own and a list of the devices that it may
open. The options are named as Docker's are:

  --network  host: no network namespace; NAME: that of `ip netns add NAME`
             (default: one of its own, with nothing but lo)
  --device   a device, or a folder of devices: made in its /dev, and allowed
  --volume   a folder, put at the same place and nothing more
  --memlock  RLIMIT_MEMLOCK (default: this process's own)
  --cap-add  such as IPC_LOCK

The exit status is the command's.
"""
import argparse
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent


def devices(paths):
    """Each character device in the paths, as the file of the bundle wants it."""
    for path in map(pathlib.Path, paths):
        for node in sorted(path.iterdir()) if path.is_dir() else [path]:
            status = node.stat()
            if stat.S_ISCHR(status.st_mode):
                yield {"path": str(node), "type": "c",
                       "major": os.major(status.st_rdev),
                       "minor": os.minor(status.st_rdev),
                       "fileMode": stat.S_IMODE(status.st_mode),
                       "uid": status.st_uid, "gid": status.st_gid}


def configure(config, options):
    """Changes what `runc spec` has written into what the options ask for."""
    process, linux = config["process"], config["linux"]
    process.update(args=options.command, cwd=os.getcwd(), terminal=False,
                   env=[f"{name}={os.environ[name]}" for name in ("PATH", "LANG")])
    for kind in ("bounding", "effective", "permitted"):
        process["capabilities"][kind] += [f"CAP_{name}" for name in options.cap_add]
    if options.memlock is not None:
        process["rlimits"].append({"type": "RLIMIT_MEMLOCK",
                                   "soft": options.memlock, "hard": options.memlock})
    config["root"] = {"path": "rootfs", "readonly": True}
    config["mounts"] += [{"destination": path, "source": path, "type": "bind",
                          "options": ["rbind"]} for path in [str(TOP), *options.volume]]
    for space in linux["namespaces"]:
        if space["type"] == "network" and options.network:
            space["path"] = f"/run/netns/{options.network}"
    if options.network == "host":
        linux["namespaces"] = [space for space in linux["namespaces"]
                               if space["type"] != "network"]
    linux["devices"] = list(devices(options.device))
    linux["resources"]["devices"] += [
        {"allow": True, "access": "rwm", "type": node["type"],
         "major": node["major"], "minor": node["minor"]} for node in linux["devices"]]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--network")
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--volume", action="append", default=[])
    parser.add_argument("--memlock", type=int)
    parser.add_argument("--cap-add", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
    # So that what is below is done then, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(dir="/run", prefix="container-") as bundle:
        name = os.path.basename(bundle)
        root = pathlib.Path(bundle, "rootfs")
        root.mkdir()
        subprocess.run(["mount", "--bind", "/", root], check=True)
        try:
            subprocess.run(["runc", "spec", "-b", bundle], check=True)
            file = pathlib.Path(bundle, "config.json")
            config = json.loads(file.read_text())
            configure(config, options)
            file.write_text(json.dumps(config))
            return subprocess.run(["runc", "run", "-b", bundle, name],
                                  check=False).returncode
        finally:
            subprocess.run(["runc", "delete", "--force", name], check=False)
            subprocess.run(["umount", root], check=True)


if __name__ == "__main__":
    sys.exit(main())
