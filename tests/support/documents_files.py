"""Files and models that pages take their reader to have, made from the example when first named.

A model is a folder by the name that it has on Hugging Face's hub, which the libraries look for
before they ask the hub: small and untaught, it shows that a command works and nothing else.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import polars as pl

MY_SYSTEM = '''"""A system that has read the example, and a little geography."""

import json
import sys
from pathlib import Path

KNOWN = {"Capital of France?": "Paris"}
for line in Path("examples/answers.jsonl").read_text("utf-8").splitlines():
    row = json.loads(line)
    KNOWN[row["question"]] = row["references"][0]


def ask(question):
    return KNOWN[question]


if __name__ == "__main__":
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        row = json.loads(line)
        print(json.dumps(row | {"answer": ask(row["question"])}))
'''


class Address(Protocol):
    """Something that listens."""

    @property
    def url(self) -> str: ...


Maker = Callable[[Path, Callable[[], Address]], None]


def answers() -> pl.DataFrame:
    """The example."""
    return pl.read_ndjson("examples/answers.jsonl")


def of_questions(first: int, last: int) -> Maker:
    """Writes the answers to some of the example's questions, with their labels."""

    def make(path: Path, _: object) -> None:
        table = answers()
        chosen = table["question"].unique(maintain_order=True)[first:last]
        table.filter(pl.col("question").is_in(chosen.implode())).write_ndjson(path)

    return make


def of_system(first: int, last: int, system: str) -> Maker:
    """The same, given as another system's."""

    def make(path: Path, model: Callable[[], Address]) -> None:
        of_questions(first, last)(path, model)
        table = pl.read_ndjson(path).unique("question", maintain_order=True)
        table.with_columns(system=pl.lit(system)).write_ndjson(path)

    return make


def charts(path: Path, _: object) -> None:
    """The example's first answers, each with a small image in a folder beside the file."""
    folder = path.parent / "charts"
    folder.mkdir(exist_ok=True)
    (folder / "bars.gif").write_bytes(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;")
    answers().head(3).with_columns(chart=pl.lit("bars.gif")).write_ndjson(path)


def questions(path: Path, _: object) -> None:
    """Questions and references alone."""
    table = answers().select("question", "references").unique("question", maintain_order=True)
    table.write_ndjson(path)


def labels(path: Path, _: object) -> None:
    """Labels alone."""
    answers().select(answer_id="id", label="label").write_csv(path)


def graded(path: Path, _: object) -> None:
    """Another judge's verdicts, with people's in a column of their own."""
    table = answers().select("question", "answer", human="label")
    accepts = pl.col("answer").fill_null("").str.len_chars() > 20
    table.with_columns(verdict=accepts.cast(pl.Int8)).write_csv(path)


def with_passages(path: Path, _: object) -> None:
    """Answers with the passage that they were made from."""
    passage = pl.col("references").list.join(", ") + " is in this passage."
    answers().head(8).with_columns(context=passage).write_ndjson(path)


def qa2d(path: Path, _: object) -> None:
    """Statements in QA2D's columns."""
    table = pl.read_ndjson("examples/statements.jsonl")
    table.rename({"statement": "turker_answer"}).write_csv(path)


def parts(path: Path, _: object) -> None:
    """The example in Parquet files."""
    path.mkdir()
    answers().head(124).write_parquet(path / "a.parquet")
    answers().tail(124).write_parquet(path / "b.parquet")


def prompts(path: Path, _: object) -> None:
    """Two questions to train on."""
    table = answers().select("question", "references").unique("question", maintain_order=True)
    table.select(prompt="question", references="references").head(2).write_ndjson(path)


def nli(path: Path, _: object) -> None:
    """Statements, with what follows from them and what does not."""
    table = pl.read_ndjson("examples/statements.jsonl")
    follows = table.select(premise="statement", hypothesis="statement", label=pl.lit("entailment"))
    other = follows.with_columns(
        hypothesis=pl.col("hypothesis").reverse(), label=pl.lit("contradiction")
    )
    pl.concat([follows, other]).write_ndjson(path)


def program(path: Path, _: object) -> None:
    """The system that a page judges."""
    path.write_text(MY_SYSTEM, "utf-8")


def batch_results(path: Path, model: Callable[[], Address]) -> None:
    """What a provider gives back for `batch.jsonl`: its model's replies, the last one an error."""
    lines = [json.loads(line) for line in Path("batch.jsonl").read_text("utf-8").splitlines()]
    results = [json.dumps(answered(line, model().url)) for line in lines[:-1]]
    path.write_text("\n".join(results) + "\n", "utf-8")
    failed = {"custom_id": lines[-1]["custom_id"], "response": None,
              "error": {"code": "batch_expired", "message": "not done within a day"}}  # fmt: skip
    Path("errors.jsonl").write_text(json.dumps(failed) + "\n", "utf-8")


def answered(line: dict[str, Any], url: str) -> dict[str, Any]:
    """A line of a batch's results."""
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(line["body"]).encode(),
        {"content-type": "application/json"},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=60) as response:
        body = json.load(response)
    return {"custom_id": line["custom_id"], "error": None,
            "response": {"status_code": 200, "body": body}}  # fmt: skip


def words_known() -> Any:
    """A tokenizer that knows the words of the example and of the prompts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from markscheme_research.judges.finetuned.templates import VARIANTS

    table = answers()
    texts = [text for one in VARIANTS.values() for text in one.values()]
    texts += [*table["question"], *table["answer"].drop_nulls(), *table["references"].explode()]
    core = Tokenizer(models.WordLevel(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    core.train_from_iterator([*texts, "Yes No"], trainers.WordLevelTrainer(special_tokens=special))
    return PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        unk_token="<unk>", cls_token="<s>", sep_token="</s>", model_max_length=512,
    )  # fmt: skip


def save(folder: Path, kind: str, **settings: Any) -> None:
    """Write an untaught model of a kind, with its tokenizer."""
    import torch
    import transformers

    torch.manual_seed(0)
    tokenizer = words_known()
    name, _, suffix = kind.partition(":")
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer), pad_token_id=0, bos_token_id=1, eos_token_id=2, **settings
    )
    getattr(transformers, name + suffix)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def causal(folder: Path, _: object) -> None:
    """A Llama of one small layer."""
    save(
        folder, "Llama:ForCausalLM", hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=1024,
    )  # fmt: skip


def classifier(folder: Path, _: object) -> None:
    """A BERT of one small layer that knows three relations by name."""
    save(
        folder, "Bert:ForSequenceClassification", hidden_size=16, intermediate_size=32,
        num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=512, num_labels=3,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
    )  # fmt: skip


def writer(folder: Path, _: object) -> None:
    """A T5 of one small layer."""
    save(
        folder, "T5:ForConditionalGeneration", d_model=16, d_kv=8, d_ff=32, num_layers=1,
        num_heads=2, decoder_start_token_id=0,
    )  # fmt: skip


MAKERS: dict[str, Maker] = {
    "labelled.jsonl": of_questions(0, 62),
    "kept-out.jsonl": of_questions(40, 62),
    "triviaqa_labelled.jsonl": of_system(0, 40, "gpt4"),
    "nq.jsonl": of_system(40, 62, "mine"),
    "labels.csv": labels,
    "graded.csv": graded,
    "rag.jsonl": with_passages,
    "qa2d.csv": qa2d,
    "answers/": parts,
    "my_system": program,
    "questions.jsonl": questions,
    "charts.jsonl": charts,
    "results.jsonl": batch_results,
    "prompts.jsonl": prompts,
    "nli.jsonl": nli,
    "your/model": causal,
    "meta-llama/Llama-2-7b-chat-hf": causal,
    "cross-encoder/nli-deberta-v3-large": classifier,
    "domenicrosati/QA2D-t5-base": writer,
}
"""What pages name, and how it is made."""


def make_missing(text: str, model: Callable[[], Address]) -> None:
    """Make the files that a text names and that are not there."""
    for name, make in MAKERS.items():
        path = Path("my_system.py" if name == "my_system" else name)
        if re.search(rf"(?<![\w./-]){re.escape(name)}", text) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path, model)
