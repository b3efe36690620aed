"""Variables of a shell line: which ones change what the commands behind them run."""

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from heald.core.lazy import lazy_pattern

VariableEffect = Literal["none", "unknown", "runs"]
"""What assigning a variable does to later commands: nothing, nothing that is known, or running other programs."""

VARIABLE_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_HARMLESS_WORDS = """
    CGO_ENABLED CI CLICOLOR CLICOLOR_FORCE COLUMNS FORCE_COLOR GIT_PAGER_IN_USE GOARCH
    GOOS LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LINES NO_COLOR NODE_ENV
    PIP_DISABLE_PIP_VERSION_CHECK PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUNBUFFERED
    PYTHONUTF8 RAILS_ENV RUST_BACKTRACE RUST_LOG SOURCE_DATE_EPOCH TERM TZ
"""
_HARMLESS = frozenset(_HARMLESS_WORDS.split())

_OF_THE_SHELL_WORDS = """
    CDPATH COMP_WORDBREAKS COMPREPLY DIRSTACK ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT FIGNORE
    FUNCNAME FUNCNEST GLOBIGNORE GROUPS HISTCMD HISTCONTROL HISTFILE HISTIGNORE HISTSIZE HOME IFS IGNOREEOF INPUTRC
    LINENO MAILCHECK MAILPATH MAPFILE OLDPWD OPTERR OPTIND OSTYPE PATH PIPESTATUS POSIXLY_CORRECT PPID
    PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_ARGUMENT READLINE_LINE READLINE_MARK
    READLINE_POINT SECONDS SHELL SHELLOPTS SHLVL SRANDOM TIMEFORMAT TMOUT UID
"""
_OF_THE_SHELL = frozenset(_OF_THE_SHELL_WORDS.split())
"""Variables that the shell obeys. It evaluates a value of `RANDOM` or `OPTIND` as an expression."""

_OF_PROGRAMS_WORDS = """
    AR AS BROWSER CC CPP CXX LD SHELL SUDO_* SSH_* LD_* DYLD_* GIT_* BASH* ZDOTDIR *PAGER *EDITOR VISUAL LESS*
    *_COMMAND *_CMD *_WRAPPER *_RSH *_SSH *ASKPASS *_EXEC* *OPT *OPTS *OPTIONS *FLAGS MAKE* PYTHON* PERL* RUBY*
    GEM_* BUNDLE_* NODE_* NPM_* npm_* YARN_* LUA* TCL* JAVA_* JDK_* _JAVA_* CLASSPATH MAVEN_* GRADLE_* PHP* CARGO*
    RUSTC* RUSTFLAGS RUSTDOC* GO* PIP_* UV_* CMAKE_* GCONV_PATH LOCPATH NLSPATH TERMINFO* TERMCAP MALLOC_* GLIBC_*
    XDG_* DOCKER_* KUBECONFIG ANSIBLE_* AWKPATH AWKLIBPATH MANPATH MANOPT PARALLEL* TAR_* RIPGREP_* FZF_* TMPDIR
    *_PRELOAD *PATH *_PROXY *_proxy
"""
_OF_PROGRAMS = tuple(_OF_PROGRAMS_WORDS.split())
"""Patterns of variables with which programs start others, load code or read their settings elsewhere."""


@lru_cache(1024)
def effect_of(variable: str) -> VariableEffect:
    """Return what assigning a variable does to the commands behind it."""
    if variable in _HARMLESS:
        return "none"
    if variable in _OF_THE_SHELL or any(fnmatchcase(variable, pattern) for pattern in _OF_PROGRAMS):
        return "runs"
    return "unknown"
