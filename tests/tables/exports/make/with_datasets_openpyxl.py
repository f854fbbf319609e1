"""datasets and openpyxl: a dataset folder and a workbook. Usage: ... OUT_FOLDER"""

import sys
from pathlib import Path

from datasets import Dataset
from openpyxl import Workbook
from rows import ROWS

out = Path(sys.argv[1])
Dataset.from_list(
    [{"question": q, "references": refs, "answer": a} for q, refs, a, _ in ROWS]
).save_to_disk(str(out / "hf-dataset"))

book = Workbook()
sheet = book.active
sheet.append(["question", "expected answer", "model answer"])
for question, references, answer, _ in ROWS:
    sheet.append([question, references[0], int(answer) if answer.isdigit() else answer])
book.save(out / "workbook.xlsx")
