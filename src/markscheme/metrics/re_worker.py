"""A process that only searches: `re` for patterns that RE2 refuses. Run as a script, by its path.

Reads one JSON list [[[pattern, flags], ...], text, seconds] a line, and answers 1 or 0 in a line
for each pattern up to the first that is found. The system ends it if that takes more seconds of
processor time. It imports nothing of ours, so that it starts fast and can be killed at any moment.
"""

import json
import re
import signal
import sys
import warnings


def main() -> None:
    """Answer until the input ends."""
    warnings.simplefilter("ignore")
    replies = sys.stdout.buffer
    replies.write(b"ready\n")
    replies.flush()
    for line in sys.stdin.buffer:
        patterns, text, seconds = json.loads(line)
        _end_after(seconds)
        for place, (pattern, flags) in enumerate(patterns, start=1):
            found = re.search(pattern, text, flags) is not None
            if found or place == len(patterns):  # The next request may follow the last reply.
                _end_after(0)
            replies.write(b"1\n" if found else b"0\n")
            replies.flush()
            if found:
                break


def _end_after(seconds: float) -> None:
    """Let the system end this process after so much processor time; 0 is never."""
    if hasattr(signal, "setitimer"):  # Not on Windows.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


if __name__ == "__main__":
    main()
