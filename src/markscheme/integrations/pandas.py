"""Judging inside pandas: import this module, then `frame.markscheme.judge()`."""

from __future__ import annotations

from typing import Any

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import judge_frame
from markscheme.integrations.polars import GIVEN
from markscheme.tables import values_of

try:
    import pandas as pd
except ImportError:
    raise MissingExtraError("judging pandas frames", "pandas") from None


def judged(
    frame: pd.DataFrame, judge: str = "examiner", *, prefix: str = "", **options: Any
) -> pd.DataFrame:
    """The frame with the columns of a judge's verdicts added; the index is unchanged.

    The options are those of `markscheme.integrations.polars.judged`. Missing answers (None, NaN)
    are judged wrong; numbers are read as text.
    """
    table = judge_frame(frame, values_of, judge, **options)
    return frame.assign(**{prefix + name: table[name].to_list() for name in GIVEN})


@pd.api.extensions.register_dataframe_accessor("markscheme")
class MarkschemeFrame:
    """`frame.markscheme` on pandas frames."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def judge(self, judge: str = "examiner", **options: Any) -> pd.DataFrame:
        """See `judged`."""
        return judged(self._frame, judge, **options)
