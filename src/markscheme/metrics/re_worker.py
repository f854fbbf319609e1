"""A process that only searches: `re` for patterns that RE2 refuses. Run as a script, by its path.

Reads one JSON list [pattern, flags, text] a line and answers 1 or 0. It imports nothing of ours, so
that it starts fast and can be killed at any moment.
"""

import json
import re
import sys
import warnings


def main() -> None:
    """Answer until the input ends."""
    warnings.simplefilter("ignore")
    replies = sys.stdout.buffer
    replies.write(b"ready\n")
    replies.flush()
    for line in sys.stdin.buffer:
        pattern, flags, text = json.loads(line)
        replies.write(b"1\n" if re.search(pattern, text, flags) else b"0\n")
        replies.flush()


if __name__ == "__main__":
    main()
