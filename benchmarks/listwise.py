"""How well and how fast the listwise examiner marks: `python -m benchmarks.listwise [--quality]`.

Speed: candidates of TREC-DL-NF a second, whose references and questions were encoded before, with
and without embeddings, loading of weights apart; next to it, the encoder alone on the same texts in
the same run. `--quality` adds the cross-validated correlations of the recipe that made the shipped
weights (many minutes).
"""

from __future__ import annotations

import argparse
import time

import polars as pl

from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.models.local.encoder import TokenEncoder, token_encoder
from markscheme_research.datasets import load, passages

ROWS = 1000


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--rows", type=int, default=ROWS)
    options = parser.parse_args()
    speed(options.rows)
    draws()
    if options.quality:
        quality()


def speed(rows: int) -> None:
    """Candidates a second of both modes, and texts a second of the bare encoder."""
    answers: pl.DataFrame = load("trec-dl-nf").head(rows)
    again = pl.concat([answers["question"], answers["references"].explode()]).unique().drop_nulls()
    token_encoder().details(again.to_list(), keep=again.to_list())
    texts = answers["answer"].to_list()
    token_encoder().encode(texts[:8])
    begin = time.perf_counter()
    token_encoder().encode(texts)
    bare = answers.height / (time.perf_counter() - begin)
    print(f"the encoder alone: {bare:,.0f} texts a second")
    for name in ("listwise_examiner(encoder=never)", "listwise_examiner"):
        judge = parse_judge(name)
        apply(judge, answers.head(1))
        begin = time.perf_counter()
        apply(judge, answers)
        rate = answers.height / (time.perf_counter() - begin)
        print(f"{name}: {rate:,.0f} candidates a second, {rate / bare:.2f} of the encoder's rate")


def draws(questions: int = 3) -> None:
    """Print how much faster three draws are judged together than apart, with the same scores."""
    from markscheme.models import Models
    from markscheme_research.lists.list_material import open_material
    from markscheme_research.lists.list_studies import Plan, mark, marked_over_draws

    judge = parse_judge("listwise_examiner")
    tables = Plan(seeds=3).tables(open_material("trec-dl-nf", questions=questions), "3210")
    apply(judge, tables[0].head(1))
    seconds = {}
    begin = time.perf_counter()
    apart = pl.concat([mark(judge, one, Models(), draw=n).table for n, one in enumerate(tables)])
    seconds["apart"] = time.perf_counter() - begin
    # The second way is not to find the references of the first.
    token_encoder().forget()
    begin = time.perf_counter()
    together = marked_over_draws(judge, tables, Models()).table
    seconds["together"] = time.perf_counter() - begin
    assert together.equals(apart), "the scores differ"
    fast, slow = (apart.height / seconds[way] for way in ("together", "apart"))
    print(
        f"three draws of {questions} questions, {apart.height:,} candidates: "
        f"together {fast:,.0f} a second, apart {slow:,.0f}: {fast / slow:.1f} times"
    )


def quality() -> None:
    """Print correlations within questions that the trees have not seen, three draws each."""
    from markscheme_research.training.listwise import train_mode
    from markscheme_research.training.listwise_draws import draw_all
    from markscheme_research.training.listwise_models import ListwiseOptions

    options = ListwiseOptions()
    sets = {"antique": passages("antique", part="dev"), "trec-dl-nf": passages("trec-dl-nf")}
    drawn = draw_all(sets, TokenEncoder(), draws=options.draws, seed=options.seed)
    with pl.Config(tbl_cols=-1, tbl_width_chars=160, float_precision=3):
        for encoded in (True, False):
            print("with embeddings" if encoded else "words alone")
            print(train_mode(drawn, options, encoded=encoded).report)


if __name__ == "__main__":
    main()
