"""The options of a chapter's programs, as these say it themselves."""
import re
import subprocess


def listed(chapter):
    """{program: its options, as -x and --word}, by the -h of those that there are and are built."""
    said = {role: subprocess.run([chapter / role, '-h'], check=True, text=True, stdout=subprocess.PIPE).stdout
            if (chapter / role).exists() else '' for role in ('server', 'client')}
    return {role: {'-h', '--help'}.union(*re.findall(r'(?m)^  (-\S)(?:, (--[\w-]+))?', text)) - {''}
            for role, text in said.items()}
