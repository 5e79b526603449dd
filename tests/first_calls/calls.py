"""A first call, as people make it: right at once, or refused with a way out that works."""

import re
import shlex

from running import ROOT, run_here

from litepyramid.errors import LitepyramidError


def follow(call, **options):
    """What a call gives; after a refusal, with the option that the error shows."""
    refusal = ""
    try:
        return call(**options)
    except LitepyramidError as error:
        refusal = str(error)

    shown = re.search(r'columns="(.*?)"', refusal)
    assert shown, f"no way out is shown: {refusal}"
    return call(**options, columns=shown[1])


def follow_line(cli, line, cwd=ROOT):
    """What a command prints; after a refusal, of the lines that the error shows."""
    done = run_here(line.split(), cwd, {})
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        return done.stdout

    message = " ".join(done.stderr.split())
    commands = re.findall(r"`litepyramid (.*?)`", message)
    if commands:
        for command in commands:
            words = shlex.split(command)
            done = cli(*words, cwd=cwd)
        return done.stdout

    option = re.search(r"Add (--\w+ (?:'[^']*'|\S+))", message)
    assert option, f"no way out is shown: {message}"
    words = shlex.split(option[1])
    return cli(line, *words, cwd=cwd).stdout
