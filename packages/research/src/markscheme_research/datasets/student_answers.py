"""Students' graded answers as they are published: a zip of XML files, one question each.

SciEntsBank and Beetle (SemEval 2013 task 7) and SAF share this form: a `question` has a
`questionText`, `referenceAnswer`s and `studentAnswer`s. The first two say in `accuracy` whether an
answer is right; SAF has `response` and `score` (0 to 1).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from markscheme.errors import DataError

LARGEST = 20_000_000
"""Bytes of one XML file that are read; the published ones have some hundred thousand at most."""


def read_student_answers(path: Path, name: str) -> list[dict[str, Any]]:
    """Rows `question`, `references`, `answer`, `label`, `system` (null) of the training part.

    Equal answers to a question count once; where their labels differ, and where nothing was
    answered, there is no row.

    Args:
        path: the zip.
        name: the dataset: of a zip that holds several, the files in folders with that name.

    Raises:
        DataError: it is no zip, holds no such file, or one that is no XML of this form.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            files = _chosen([one.filename for one in archive.infolist()], name)
            if not files:
                raise DataError(f"{path} holds no XML file of {name}")
            rows = [row for file in files for row in _rows(_text(archive, file), f"{path}:{file}")]
    except zipfile.BadZipFile:
        raise DataError(f"{path} is not a zip file") from None
    labels: dict[tuple[str, tuple[str, ...], str], dict[float, str]] = {}
    for row in rows:
        key = (row["question"], tuple(row["references"]), row["answer"].casefold())
        labels.setdefault(key, {}).setdefault(row["label"], row["answer"])
    return [
        {"question": question, "references": list(references), "answer": answer, "label": label,
         "system": None}
        for (question, references, _), found in labels.items() if len(found) == 1
        for label, answer in found.items()
    ]  # fmt: skip


def _chosen(names: list[str], name: str) -> list[str]:
    """XML files of a dataset's training part, of SAF the English ones."""
    found = sorted(one for one in names if one.lower().endswith(".xml"))
    for word in (name.partition("-")[0], "train", "english"):
        own = [one for one in found if word in one.lower()]
        if own or word not in ("train", "english", "saf"):
            found = own
    return found


def _text(archive: zipfile.ZipFile, file: str) -> bytes:
    if archive.getinfo(file).file_size > LARGEST:
        raise DataError(f"{archive.filename}:{file} is larger than {LARGEST:,} bytes")
    return archive.read(file)


def _rows(text: bytes, where: str) -> Iterator[dict[str, Any]]:
    try:
        # In another encoding a declaration could hide.
        if {"<!DOCTYPE", "<!ENTITY"} & set(re.findall(r"<!\w+", text.decode("utf-8-sig"))):
            raise DataError(f"{where} declares entities, which the published files do not")
        root = ElementTree.fromstring(text)  # noqa: S314  # declares no entities
    except (UnicodeDecodeError, ElementTree.ParseError) as error:
        raise DataError(f"{where} is not XML ({error})") from None
    for question in root.iter("question"):
        asked = _words(question.find("questionText"))
        references = [_words(one) for one in question.iter("referenceAnswer")]
        references = [one for one in dict.fromkeys(references) if one]
        for given in question.iter("studentAnswer"):
            response, score = given.find("response"), given.find("score")
            answer = _words(given if response is None else response)
            label = _label(given.get("accuracy") if score is None else score.text, where)
            if asked and references and answer:
                yield {"question": asked, "references": references, "answer": answer,
                       "label": label}  # fmt: skip


def _words(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _label(said: str | None, where: str) -> float:
    """1 for `correct`, 0 for any other word, a score as it is."""
    text = (said or "").strip()
    try:
        label = float(text)
    except ValueError:
        if text:
            return float(text == "correct")
        raise DataError(f"{where}: a student's answer without accuracy and score") from None
    if not 0 <= label <= 1:
        raise DataError(f"{where}: a score of {text}, where 0 to 1 are known")
    return label
