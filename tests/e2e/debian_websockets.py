"""Debian's python3-websockets, whichever Python the script was started by."""
import os
import sys

try:
    import websockets  # python3-websockets: deploy/deps test
except ImportError:  # another Python stands before Debian's in PATH
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
