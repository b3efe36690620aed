"""What runs in a terminal of tmux in place of a program that was forked elsewhere: `pane_program.py FOLDER`.

It writes the variables of the terminal to `variables`, gives the terminal up, so that the program can have it, and
waits for the program's exit code at the pipe `code`. Then it shows the code as a shell would and repeats what is typed.
"""

import fcntl
import json
import os
import signal
import sys
import termios


def main(folder: str) -> None:
    with open(f"{folder}/variables", "w") as file:
        json.dump(dict(os.environ), file)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(0, termios.TIOCNOTTY)
    with open(f"{folder}/code") as pipe:
        code = int(pipe.read())
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print("status", code if code >= 0 else 128 - code, flush=True)
    os.execvp("cat", ["cat"])


if __name__ == "__main__":
    main(sys.argv[1])
