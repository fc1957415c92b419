#!/usr/bin/python3 -B
"""Whether the workflows have no more rights than they need, and run what was meant.

A workflow runs code of many others, that of a pull request among it. So each job says
its rights, and one that may write runs nothing but actions; what others have written is
named by its hash, not by a tag that can be moved; and what is published comes out of no
cache, which another run may have filled.

usage: workflows.py FOLDER

Prints FILE, the job and what is wrong. Exit status: 0 nothing, 1 something, 2 usage.
"""
import argparse
import pathlib
import re
import sys

import yaml

ACTION = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40}")
IMAGE = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
# These run code of a pull request with the rights of the repository.
TRIGGERS = {"pull_request_target", "workflow_run"}


def steps(job, name=""):
    """The steps of a job that use an action of that name, or of any."""
    return [step for step in job.get("steps", [])
            if step.get("uses", "").startswith(name) and "uses" in step]


def writes(job):
    """Whether it may change something."""
    rights = job.get("permissions", {})
    return isinstance(rights, str) or any(x != "read" for x in rights.values())


def images(job):
    """The images that it runs in or beside."""
    boxes = [job["container"]] if "container" in job else []
    boxes += job.get("services", {}).values()
    return [x if isinstance(x, str) else x["image"] for x in boxes]


def hashes(text, job):
    """What is not named by a hash, or has no version beside it to read."""
    for kind, pattern, names in (
            ("action", ACTION, [x["uses"] for x in steps(job)]),
            ("image", IMAGE, images(job))):
        for name in names:
            if not pattern.fullmatch(name):
                yield f"the {kind} {name} is not named by its hash"
            elif not re.search(re.escape(name) + r" # \S+\d", text):
                yield f"the {kind} {name} has no version beside it"


def rights(job):
    """What it may do without need."""
    if "permissions" not in job:
        yield "does not say its rights"
    if writes(job):
        if any("run" in x for x in job["steps"]) or images(job) or steps(job, "actions/checkout@"):
            yield "may write, and runs more than actions"
    for step in steps(job, "actions/checkout@"):
        if step.get("with", {}).get("persist-credentials") is not False:
            yield "leaves the token of the checkout where all that runs can read it"
    for step in job.get("steps", []):
        if "${{" in step.get("run", ""):
            yield f"makes a command of what may be anybody's text: {step['run']}"


def caches(job, publishes):
    """Caches that tests and what is published would share."""
    for step in steps(job):
        settings = step.get("with", {})
        if publishes and (step["uses"].startswith("actions/cache") or "cache" in settings):
            yield "publishes what comes out of a cache"
        elif step["uses"].startswith("actions/cache") and "github.event_name" not in settings["key"]:
            yield "has one cache for pull requests and for what was merged"


def look(path):
    """Yields what is wrong with a workflow: the job and what."""
    text = path.read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    if flow.get("permissions") != {}:
        yield "all jobs", "have rights that they do not say themselves; permissions: {} takes them"
    # YAML takes the word on for yes.
    for trigger in TRIGGERS.intersection(flow[True]):
        yield "all jobs", f"run on {trigger}"
    publishes = any(writes(job) for job in flow["jobs"].values())
    for name, job in flow["jobs"].items():
        for said in (hashes(text, job), rights(job), caches(job, publishes)):
            yield from ((name, x) for x in said)


def main():
    """Prints what is wrong with each workflow of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    files = sorted(parser.parse_args().folder.glob("*.y*ml"))
    if not files:
        parser.error("there is no workflow")
    wrong = [f"{path.name}: {job}: {what}" for path in files for job, what in look(path)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
