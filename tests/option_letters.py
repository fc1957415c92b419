"""Whether the options that a chapter's messages name are ones that it has.

A message that says "see -g" sends its reader to -h. So each -x and --word in a
string of a program must be in that program's -h: in the server's, in the
client's, or, where a file is part of both, in both.
"""
import re
import subprocess

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<char>'(?:\\.|[^'\\])*')
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<include>^\#include[^\n]*)
  | (?P<macro>\b(?:PRI[a-zA-Z0-9]+|[A-Z][A-Z0-9_]+)\b)
  | (?P<space>\s+)
  | (?P<other>.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"(?<![\w.=/-])(--[a-z][a-z-]+|-[A-Za-z0-9])(?![\w])")
# What speaks of the options that were given knows which role it is.
PARSERS = {"options.c"}
# Part of both programs, but only a client gets as far as their messages.
CLIENTS = {"06_rds/ipv4.c"}
# The same of servers.
SERVERS = {"folder.c", "incoming.c", "who.c", "crowd.c"}

# The same of nobody: 05 has no list of those who may come.
UNUSED = {"05_multiclient/who.c"}


def listed(chapter):
    """{program: its options, as -x and --word}, by the -h of those that there are and are built."""
    said = {role: subprocess.run([chapter / role, "-h"], check=True, text=True, stdout=subprocess.PIPE).stdout
            if (chapter / role).exists() else "" for role in ("server", "client")}
    return {role: {"-h", "--help"}.union(*re.findall(r"(?m)^  (-\S)(?:, (--[\w-]+))?", text)) - {""}
            for role, text in said.items()}


def strings(text):
    """Yields the line and the text of each literal; adjacent ones are one."""
    whole, begin, line = "", 0, 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "string":
            begin = begin or line
            whole += match[0][1:-1]
        elif kind == "macro":
            # PRIu32 and the like stand between two parts of one text.
            whole += " " if whole else ""
        elif kind not in ("space", "comment") and whole:
            yield begin, whole
            whole, begin = "", 0
        line += match[0].count("\n")
    if whole:
        yield begin, whole


def named(text):
    """The options that a message names, but for those of other programs."""
    text = re.sub(r"`[^`]*`|\\\"[^\"]*\\\"", " ", text)
    text = re.sub(r"as in: \S+.*", " ", text)
    text = re.sub(r"scripts/\S+( --?\w+)*", " ", text)
    return OPTION.findall(text)


def sources(chapter):
    """The C files of a chapter."""
    return [path for folder in (".", "carried", "plumbing")
            for path in chapter.glob(f"{folder}/*.c")]


def roles(chapter):
    """Which programs a file is part of, by its name."""
    text = (chapter / "Makefile").read_text().replace("\\\n", " ")
    lists = dict(re.findall(r"^(\w+) = (.*)$", text, re.MULTILINE))
    parts = {"server.c": {"server"}, "client.c": {"client"}}
    for name, role in (("SERVER", "server"), ("CLIENT", "client")):
        for part in lists.get(name, "").split():
            parts[part[:-1] + "c"] = {role}
    for path in sources(chapter):
        if {path.name, f"{chapter.name}/{path.name}"} & CLIENTS:
            parts[path.name] = {"client"}
        if path.name in SERVERS:
            parts[path.name] = {"server"}
        if f"{chapter.name}/{path.name}" in UNUSED:
            parts[path.name] = set()
    return parts


def lacking(option, text, path, wanted, has):
    """The programs that do not have an option that is named in text."""
    if f"start it with {option}" in text:
        # "it" is the other one.
        wanted = {"server", "client"} - wanted
    lacks = {role for role in wanted if option not in has[role]}
    if path.name in PARSERS and lacks != wanted:
        return set()
    return lacks


def wrong_options(chapter):
    """Each that a message names, and a program that has the message does not have."""
    has, parts = listed(chapter), roles(chapter)
    for path in sorted(sources(chapter)):
        for line, text in strings(path.read_text()):
            for option in named(text):
                for role in sorted(lacking(option, text, path, parts.get(path.name, {"server", "client"}), has)):
                    yield f"{path.name}:{line}: {option}, which ./{role} -h does not list"
