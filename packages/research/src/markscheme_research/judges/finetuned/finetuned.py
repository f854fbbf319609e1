"""A language model that was fine-tuned on people's verdicts."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from markscheme.contract import Lineage, ModelSource, Needs, register
from markscheme.judges import Thresholded, by_threshold
from markscheme.tables import is_blank

BLANK = "the answer is empty"

_asking = threading.Lock()
"""Which adapter speaks is a state of the model, so one judge asks at a time."""


@register(
    "learned",
    paper="Yao & Barbosa 2024",
    needs=Needs(
        chat=False,
        extras=("lora",),
        weights="required",
        references="required",
        note="the extra lora, and weights that 'markscheme research train learned' wrote",
    ),
    example="learned(weights='FOLDER')",
)
@dataclass(frozen=True, kw_only=True)
class Learned(Thresholded):
    """A causal language model with LoRA adapters that learned from people's verdicts.

    The variants `plain` and `nli` score by the probability of Yes against No; the prompt of `nli`
    also states whether answer and references entail each other. `cvi` measures how much likelier
    the answer makes a reference (conditional V-information, in bits): the score is the share of the
    probability with the answer in the two, a half where the answer tells nothing, best reference
    first. `cvi-statements` is the same as in the authors' repository: the answer as a statement,
    references joined by "or", per token. An empty answer is wrong without a request.

    Attributes:
        weights: folder that `markscheme research train learned` wrote.
        model: where the base model lies, if not where it lay in training; a folder, a `.gguf`
            file or a name on the hub.
        threshold: accepted from this score; a half is the likelier of Yes and No, and of `cvi`
            any information at all.
    """

    weights: str
    model: str | None = None

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score every answer that has a reference in words.

        Raises:
            MissingExtraError: torch, transformers or peft is not installed.
            ModelError: weights or base model cannot be used.
        """
        from markscheme_research.judges.finetuned.scores import model_scores, scored
        from markscheme_research.judges.finetuned.templates import STATEMENTS, material
        from markscheme_research.judges.finetuned.weight_files import LearnedFolder, open_adapted

        folder = LearnedFolder(Path(self.weights))
        prompts = material(answers, folder.variant, models)
        found = {}
        if prompts.height:
            causal = open_adapted(folder.folder, self.model)
            with _asking:
                for role, template in folder.templates.items():
                    causal.model.set_adapter(role)
                    found[role] = model_scores(
                        causal, prompts, role=role, template=template,
                        by_length=folder.variant == STATEMENTS,
                    )  # fmt: skip
            table = scored(prompts, found)
        else:
            table = pl.DataFrame(
                schema={"row": pl.UInt32, "score": pl.Float64, "reason": pl.String}
            )
        named = pl.col("references").list.drop_nulls().list.len() > 0
        rows = answers.with_row_index("row").join(
            table, on="row", how="left", maintain_order="left"
        )
        empty = rows.select(is_blank("answer") & named).to_series()
        score = rows.select(pl.when(empty).then(0.0).otherwise("score")).to_series()
        return by_threshold(answers, score, self.threshold).with_columns(
            explanation=pl.coalesce(
                pl.when((pl.col("status") == "judged") & empty).then(pl.lit(BLANK)),
                pl.col("explanation"),
                rows["reason"],
            )
        )

    def lineage(self) -> Lineage:
        """The questions that trained the adapters, and for `nli` the entailment judge."""
        from markscheme_research.judges.finetuned.templates import entailment_judge
        from markscheme_research.judges.finetuned.weight_files import LearnedFolder

        folder = LearnedFolder(Path(self.weights))
        own = Lineage.load(folder.folder)
        learned = entailment_judge().lineage() if folder.variant == "nli" else None
        return own if learned is None else own | learned

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of adapters and templates, base model, and for `nli` what its feature depends on."""
        from markscheme_research.judges.finetuned.templates import entailment_judge
        from markscheme_research.judges.finetuned.weight_files import LearnedFolder

        folder = LearnedFolder(Path(self.weights))
        name, revision = folder.base
        found = {"adapters": folder.revision, "base": revision or name}
        if folder.variant == "nli":
            own = entailment_judge().identity(models)
            found |= {f"entailment.{key}": text for key, text in own.items()}
        return found
