"""Sequence-to-sequence models: a tiny T5 that the test itself makes, teaches and saves."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.errors import JudgeError, MissingExtraError, ModelError, UnknownNameError
from markscheme.judges.entailment.statement_makers import StatementMaker, statement_maker
from markscheme.tables.judgments import SPENT
from markscheme_research.statements.sequence_models import SequenceStatements
from markscheme_research.transformers_models import SequenceModel

TAUGHT = {
    "who wrote emma. jane austen": "jane austen wrote emma",
    "where is the mill. by the river": "the mill is by the river",
    "when did it open. 1999": "it opened in 1999",
}


PAIRS = pl.DataFrame(
    {
        "question": ["where is fe best absorbed", "who wrote it", "who wrote it", "who", None],
        "answer": ["in the duodenum", "Ann", "Ann", " ", "x"],
    }
)
FE = "Fe is best absorbed in the duodenum."


@pytest.mark.parametrize("folder", ["a/b", "C:\\models"])
def test_the_maker_has_a_name(folder: str) -> None:
    maker = statement_maker(f"seq2seq:{folder}")
    assert maker == SequenceStatements(name=folder)
    assert isinstance(maker, StatementMaker)
    assert maker.identity(None) == {"seq2seq": folder}


@pytest.mark.parametrize(
    ("name", "error"),
    [("seq2seq", JudgeError), ("seq2seq:", UnknownNameError), ("rules:x", UnknownNameError)],
)
def test_other_names_are_refused(name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"seq2seq:(NAME_OR_FOLDER|domenicrosati)"):
        statement_maker(name)


def test_question_and_answer_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def generate(
        model: SequenceModel, texts: list[str], *, max_tokens: int
    ) -> list[tuple[str, bool]]:
        assert (model.name, max_tokens) == ("tiny", 128)
        given.extend(texts)
        return [
            (FE, True) if "duodenum" in text else ("it it it it it it", False) for text in texts
        ]

    monkeypatch.setattr(SequenceModel, "generate", generate)
    made = statement_maker("seq2seq:tiny").make(PAIRS, None)
    assert given == ["where is fe best absorbed. in the duodenum", "who wrote it. Ann"]
    assert made["statement"].to_list() == [FE, None, None, None, None]
    assert made["status"].to_list() == ["judged", *["unparsed"] * 4]
    assert made["raw"].to_list()[1] == "it it it it it it"
    assert made.select(SPENT).null_count().row(0) == (5, 5, 5, 5)


def test_opening_costs_nothing_and_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = SequenceModel(name="some/name")
    assert model.revision == ""

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match="hf"):
        model.generate(["x"], max_tokens=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of two small layers that has learnt three statements by heart."""
    torch = importlib.import_module("torch")
    tokenizers = importlib.import_module("tokenizers")
    transformers = importlib.import_module("transformers")
    torch.manual_seed(0)
    words = sorted({word for pair in TAUGHT.items() for text in pair for word in split(text)})
    known = {word: place for place, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    core.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    config = transformers.T5Config(
        vocab_size=len(known), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        dropout_rate=0.0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    model = transformers.T5ForConditionalGeneration(config)
    inputs = tokenizer(list(TAUGHT), return_tensors="pt", padding=True)
    labels = tokenizer(list(TAUGHT.values()), return_tensors="pt", padding=True)["input_ids"]
    labels[labels == 0] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(400):
        loss = model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels
        ).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 1e-3:
            break
    place = tmp_path_factory.mktemp("tiny-t5")
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def split(text: str) -> list[str]:
    return text.replace(".", " . ").split()


@pytest.mark.proof(area="models")
def test_it_generates_in_order_whatever_stands_beside(folder: Path) -> None:
    model = SequenceModel(name=str(folder))
    texts = [*TAUGHT, *TAUGHT, "who who who"]
    made = model.generate(texts, max_tokens=20)
    assert made[:3] == [(said, True) for said in TAUGHT.values()]
    assert made[3:6] == made[:3]
    assert model.generate(texts[::-1], max_tokens=20) == made[::-1]
    assert [model.generate([text], max_tokens=20)[0] for text in texts] == made
    assert model.generate([], max_tokens=20) == []
    assert len(model.revision) == 12


@pytest.mark.proof(area="models")
def test_what_is_cut_off_says_so(folder: Path) -> None:
    model = SequenceModel(name=str(folder))
    text, finished = model.generate(["who wrote emma. jane austen"], max_tokens=2)[0]
    assert (text, finished) == ("jane austen", False)


@pytest.mark.proof(area="models")
def test_it_makes_statements(folder: Path) -> None:
    pairs = pl.DataFrame(
        {
            "question": ["who wrote emma", "when did it open", "who wrote emma", "who"],
            "answer": ["jane austen", "1999", "jane austen", None],
        }
    )
    maker = statement_maker(f"seq2seq:{folder}")
    made = maker.make(pairs, None)
    emma = "jane austen wrote emma"
    assert made["statement"].to_list() == [emma, "it opened in 1999", emma, None]
    assert set(maker.identity(None)) == {"seq2seq", "seq2seq_revision"}


@pytest.mark.proof(area="models")
def test_what_is_no_such_model_is_named(tmp_path: Path) -> None:
    importlib.import_module("transformers")
    with pytest.raises(ModelError, match=r"cannot load .*config\.json"):
        SequenceModel(name=str(tmp_path)).generate(["x"], max_tokens=5)
