"""`markscheme train-question-kind`: make the classifier that `auto` asks where a row belongs."""

from __future__ import annotations

from markscheme.cli.app import console
from markscheme.cli.options import OutFile, command
from markscheme.options import DataDir


@command("train-question-kind")
def train_question_kind(
    out: OutFile,
    data_dir: DataDir = None,
) -> None:
    """Train the classifier of questions: after a fact, or after an explanation or advice.

    Learns from the questions of EVOUNA-NQ and CuratedTREC (factoid), ANTIQUE-dev, TREC-DL-NF and
    WebGLM (the others). Prints, before it saves, the share told right on questions that were not
    trained on, and how often the rules for categories agree with a reader's. The defaults make
    the shipped file.
    """
    from markscheme.datasets import load, passages
    from markscheme.results import Table
    from markscheme.training import fit, save_question_kind

    def questions(name: str, **options: str) -> list[str]:
        found = load(name, data_dir=data_dir, **options)["question"]
        return found.unique(maintain_order=True).to_list()

    other = {
        "antique": passages("antique", data_dir=data_dir, part="dev"),
        "trec-dl-nf": passages("trec-dl-nf", data_dir=data_dir),
    }
    fitted = fit(
        {
            "evouna-nq": questions("evouna-nq"),
            "curatedtrec": questions("curatedtrec", split="full"),
        },
        {name: one["question"].unique(maintain_order=True).to_list() for name, one in other.items()}
        | {"webglm": questions("webglm")},
    )
    for title, frame in (
        ("factoid or not, cross-validated by question", fitted.sources),
        ("categories by rules, beside one reader's", fitted.categories),
    ):
        rows = tuple(
            tuple(f"{cell:.1%}" if isinstance(cell, float) else str(cell) for cell in row)
            for row in frame.iter_rows()
        )
        console.print(Table(title=title, header=tuple(frame.columns), rows=rows).rich())
    save_question_kind(fitted, out)
    console.print(f"weights in {out}: {len(fitted.weights)} numbers", markup=False)
