"""Generates shell lines that run harmless marker programs in every disguise: the same lines for the same seed.

`danger` is the program that rules forbid, `fine` the one that they allow, `other` one that no rule names.
"""

import random
import shlex
from collections.abc import Callable

MARKERS = ("danger", "fine", "other")
PROGRAMS = (
    "awk",
    "bash",
    "cat",
    "chroot",
    "chrt",
    "dash",
    "env",
    "find",
    "flock",
    "ionice",
    "make",
    "nice",
    "nohup",
    "nsenter",
    "perl",
    "sed",
    "script",
    "seq",
    "setsid",
    "sh",
    "sort",
    "stdbuf",
    "tar",
    "taskset",
    "timeout",
    "true",
    "unshare",
    "xargs",
)
"""Real programs that lines run markers with, where they are installed."""


class LineGenerator:
    """Composes lines from spellings of a program, arguments, wrappers and control flow."""

    def __init__(self, seed: int, shims: str) -> None:
        self._random = random.Random(seed)
        self._shims = shims

    def line(self) -> str:
        """Return a line with one marker, or several."""
        line = self._command()
        for _ in range(self._random.choice((0, 1, 1, 2, 2, 3))):
            line = self._random.choice(_DISGUISES)(self, line)
        return line

    def _command(self) -> str:
        arguments = [self._random.choice(_ARGUMENTS) for _ in range(self._random.randrange(4))]
        return " ".join([self._program(), *arguments])

    def _program(self) -> str:
        name = self._random.choice(MARKERS)
        if self._random.random() < 0.6:
            return name
        spelling = self._random.choice(_SPELLINGS)
        codes = "".join(f"\\x{ord(char):02x}" for char in name)
        return spelling.format(name=name, head=name[0], tail=name[1:], shims=self._shims, codes=codes)

    def plain(self) -> str:
        """Return a command without disguise."""
        return f"{self._random.choice(MARKERS)} {self._random.randrange(9)}"


_SPELLINGS = (
    "{shims}/{name}",
    "\\{name}",
    "'{head}'{tail}",
    '{head}"{tail}"',
    "$'{codes}'",
    "{head}\\{tail}",
    "./../shims/{name}",
    "{head}''{tail}",
    "{shims}//{name}",
    "{head}?{tail}",
    "${{x:-{name}}}",
    "$x{name}",
    "{{{name},-f,x}}",
    "`echo {name}`",
    "$(echo {name})",
    "{shims}/{head}*",
    '"{name}"',
    "{name}\\\n",
)
_ARGUMENTS = (
    "a",
    "-f",
    "'two words'",
    '"$HOME/x"',
    "$x",
    "*.txt",
    "a\\ b",
    "$(echo s)",
    "`echo t`",
    "{p,q}",
    "x=1",
    "--",
    "# no",
    "'#'",
    "a#b",
    "2>&1",
    ">/dev/null",
    "~",
    "$((1+2))",
    "${y:-z}",
    "'$(danger)'",
    "\\$x",
    "';'",
    "\\;",
    "'a\nb'",
    '"a;b"',
    "!",
    "{}",
    "[a]",
    "${#x}",
    "<(echo u)",
    "$'\\n'",
    "é",
)

Disguise = Callable[[LineGenerator, str], str]


def _template(text: str) -> Disguise:
    """A disguise from a template: LINE is the line, QUOTED the line as one word, PLAIN another command."""

    def disguise(generator: LineGenerator, line: str) -> str:
        quoted = text.replace("QUOTED", shlex.quote(line))
        return quoted.replace("PLAIN", generator.plain()).replace("LINE", line)

    return disguise


_TEMPLATES = (
    # wrappers
    "timeout 5 LINE",
    "timeout -k 1 -s TERM 5 LINE",
    "env LINE",
    "env A=1 LINE",
    "env -i PATH=$PATH LINE",
    "env -u X LINE",
    "env -S QUOTED",
    "nice LINE",
    "nice -n 3 LINE",
    "nice -3 LINE",
    "nohup LINE",
    "setsid -w LINE",
    "stdbuf -o0 LINE",
    "ionice -c 3 LINE",
    "chrt -b 0 LINE",
    "taskset 1 LINE",
    "flock lock LINE",
    "flock lock -c QUOTED",
    "flock -n lock LINE",
    "unshare -r LINE",
    "echo a b | xargs LINE",
    "echo a | xargs -I{} LINE",
    "echo a | xargs -I % sh -c QUOTED",
    "echo a | xargs -n1 LINE",
    "find . -maxdepth 0 -exec LINE \\;",
    "find . -maxdepth 0 -execdir LINE {} +",
    "find . -maxdepth 0 -exec sh -c QUOTED \\;",
    "bash -c QUOTED",
    "sh -c QUOTED",
    "dash -c QUOTED",
    "bash -ec QUOTED",
    "bash -c QUOTED a b",
    "bash --norc -c QUOTED",
    "script -qc QUOTED /dev/null",
    "command LINE",
    "builtin eval QUOTED",
    "eval QUOTED",
    "eval LINE",
    "exec LINE",
    "(exec LINE)",
    "exec -a name LINE",
    "trap QUOTED EXIT",
    "command eval QUOTED",
    "command -v LINE",
    "command bash -c QUOTED",
    # control flow
    "(LINE)",
    "( LINE )",
    "{ LINE; }",
    "if true; then LINE; fi",
    "if LINE; then PLAIN; else PLAIN; fi",
    "for x in a b; do LINE; done",
    "while LINE; do break; done",
    "until LINE; do break; done",
    "case a in a) LINE;; *) PLAIN;; esac",
    "f() { LINE; }; f",
    "function f { LINE; }; f",
    "! LINE",
    "time LINE",
    "LINE &",
    "LINE & wait",
    "LINE; PLAIN",
    "PLAIN && LINE",
    "false || LINE",
    "PLAIN | LINE",
    "PLAIN |& LINE",
    "PLAIN\nLINE",
    "# note\nLINE",
    "PLAIN # LINE",
    "LINE # PLAIN",
    "coproc LINE",
    "true \\\n&& LINE",
    "[[ a == a ]] && LINE",
    "[ a = a ] && LINE",
    "[[ -n $(LINE) ]]",
    "select x in a; do LINE; break; done <<< 1",
    "((1)) && LINE",
    # assignments and redirections
    "A=1 LINE",
    "x=$(LINE)",
    "x=`LINE`",
    "x=danger; $x",
    "x='danger y'; $x",
    "A=(a b); LINE",
    "export A=1; LINE",
    "LINE > out",
    "> out LINE",
    "LINE < /dev/null",
    "LINE 2>/dev/null",
    "LINE &> out",
    "LINE <<< text",
    "cat <<EOF\n$(LINE)\nEOF",
    "cat <<'EOF'\n$(LINE)\nEOF\nPLAIN",
    "sh <<'EOF'\nLINE\nEOF",
    "cat <<EOF | sh\nLINE\nEOF",
    "bash -s <<< QUOTED",
    "bash /dev/stdin <<< QUOTED",
    "exec 3< <(LINE); cat <&3",
    "echo QUOTED | sh",
    "echo QUOTED | bash",
    "printf %s QUOTED > s; sh s",
    "printf %s QUOTED > s; . ./s",
    "source <(echo QUOTED)",
    # substitutions
    "echo $(LINE)",
    "echo `LINE`",
    'echo "$(LINE)"',
    "cat <(LINE)",
    "PLAIN $(PLAIN; LINE)",
    "echo ${x:-$(LINE)}",
    "echo $(echo $(LINE))",
    "echo $(( $(LINE; echo 1) + 1 ))",
    "fine $(danger) ; LINE",
    'fine "a $(LINE) b"',
    # what the shell evaluates
    "test -v 'a[$(LINE)]'",
    "[ -v 'a[$(LINE)]' ]",
    "[[ -v 'a[$(LINE)]' ]]",
    "unset 'a[$(LINE)]'",
    "printf -v 'a[$(LINE)]' x",
    "declare 'a[$(LINE)]=1'",
    "read 'a[$(LINE)]' <<< x",
    "let 'a[$(LINE)]=1'",
    "(( a[$(LINE)] ))",
    "echo $(( a[$(LINE)] ))",
    "[[ 'a[$(LINE)]' -eq 1 ]]",
    "x='a[$(LINE)]'; echo $((x))",
    "x='$(LINE)'; echo ${x@P}",
    "RANDOM='a[$(LINE)]'",
    "OPTIND='a[$(LINE)]'",
    "mapfile -C QUOTED -c 1 <<< x",
    "true & wait -p 'a[$(LINE)]' $!",
    "getopts a 'a[$(LINE)]' -a",
    "jobs -x LINE",
    "wait; LINE",
    "declare -n r='a[$(LINE)]'; echo $r",
    "shopt -s expand_aliases\nalias z=QUOTED\nz",
    "PS4='$(LINE)'; set -x; :",
    "hash -p /bin/true fine; LINE",
    "echo unset BASH_ENV > s; echo QUOTED >> s; BASH_ENV=s bash -c :",
    "ENV=s sh -c :; LINE",
    'set -- danger x; "$@"',
    "set -k; fine PATH=x",
    "type() { LINE; }; type x",
    "compgen -C QUOTED x",
    "enable -n echo; LINE",
    # programs that run what they read
    "awk 'BEGIN{system(\"danger\")}'",
    "awk 'BEGIN{print 1}' | LINE",
    "sed -n '1e danger' /etc/hostname",
    "perl -e 'system(\"danger\")'",
    "tar cf x.tar . --checkpoint=1 --checkpoint-action=exec=danger",
    "printf 'a:\\n\\tdanger\\n' | make -f -",
    "sort --compress-program=danger -S 1b f",
    "find . -maxdepth 0 -exec LINE",
    "seq 1 | xargs -I{} find . -maxdepth 0 -exec danger {} \\;",
)
_DISGUISES = tuple(_template(text) for text in _TEMPLATES)
