"""The training run: MPNet and multilingual e5 with LoRA.

    python -m recipes.encoder.train WORK OUT [--run 3] [--stages mpnet]

WORK has what `recipes.encoder.pack` wrote. Each stage has a budget of seconds in which it loads,
trains, evaluates the weights' moving average several times and writes the best state. A
stage that fails prints its traceback, and the next one begins. `--small N` trains on N rows of each
part, to test the programs on a CPU. It needs PyTorch and NumPy alone.

OUT: `results.json` (every evaluation by set, kind and language), `scores.npz` (log-odds of the dev
rows, and of 64 rows in float32), and the trained tensors in float16 as
`STAGE-N.npz`, under the names of `Module.named_parameters`.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recipes.encoder import weights
from recipes.encoder.measures import auroc
from recipes.encoder.network import Aligning, Shape, build, load_trained, trained_state
from recipes.encoder.sequences import DEV, TRAIN, Data, Sequences

STARTED = time.time()
SHORT = 128
"""Most tokens of the rows of the first phase: sentences first, then documents (as FactCG)."""
SMOOTHING, WARMUP, CLIP, DECAY, AVERAGED = 0.02, 0.03, 1.0, 0.01, 0.997
MARK_SHARE, MARK_WEIGHT = 0.3, 4.0
"""Share of the token head in the loss; weight of a wrong word, where a right one has 1."""
WRITTEN = ("contrast", "light")
"""Sets of rows that were written by hand for the examiner."""
FOREIGN = 1.6
"""Factor of the weight of a row that is not English, in the stage of multilingual e5."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a stage trains.

    Attributes:
        rate: highest learning rate of adapters or blocks.
        head_rate: of the heads.
        short_epochs: most passes over the rows of up to `SHORT` tokens.
        epochs: most passes over all rows, after those.
        late: share of the time reserved for the passes over all rows.
        parts: evaluations during those.
        agreement: weight of the disagreement of two readings of a row that differ in what is
            dropped out (R-Drop: Liang et al. 2021); 0: each row is read once.
        tokens: of a batch, padding counted.
        english: sets whose English rows are read; None: all of them.
        repeats: times that a hand-written row in another language is read in a pass.
        share: of the rows that are not hand-written in another language, the part that a pass
            reads; each pass draws anew.
        dev: most dev rows of a set that was not written by hand; None: all of them.
    """

    rate: float
    head_rate: float
    short_epochs: float
    epochs: float
    late: float = 0.45
    parts: int = 2
    agreement: float = 0.0
    tokens: int = 16_384
    english: tuple[str, ...] | None = None
    repeats: int = 1
    share: float = 1.0
    dev: int | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run: its seed, and for each stage its plan and its budget in seconds."""

    seed: int
    stages: dict[str, tuple[Plan, float]]


RUNS = {
    1: Run(
        seed=20261126,
        stages={
            "mpnet": (Plan(rate=4e-4, head_rate=1e-3, short_epochs=3, epochs=2), 235),
            "multilingual-e5": (Plan(rate=5e-4, head_rate=1e-3, short_epochs=3, epochs=2), 150),
        },
    ),
    2: Run(
        seed=20261127,
        stages={
            "mpnet": (Plan(rate=5e-4, head_rate=1e-3, short_epochs=5, epochs=5, late=0.6), 255),
        },
    ),
    3: Run(
        seed=20261128,
        stages={
            "mpnet": (
                Plan(rate=5e-4, head_rate=1e-3, short_epochs=5, epochs=7, late=0.65, parts=4,
                     agreement=1.0),
                590,
            ),
        },
    ),
    4: Run(
        seed=20261129,
        stages={
            "multilingual-e5": (
                Plan(rate=3e-4, head_rate=5e-4, short_epochs=0.6, epochs=2, late=0.8, parts=3,
                     tokens=4096, english=WRITTEN, repeats=3),
                4500,
            ),
        },
    ),
    5: Run(
        seed=20261130,
        stages={
            "multilingual-e5": (
                Plan(rate=4e-4, head_rate=5e-4, short_epochs=0.05, epochs=2.4, late=0.98, parts=3,
                     tokens=4096, english=WRITTEN, repeats=3),
                5400,
            ),
        },
    ),
    7: Run(
        seed=20261201,
        stages={
            "multilingual-e5": (
                Plan(rate=3e-4, head_rate=4e-4, short_epochs=0, epochs=2, late=1, parts=2,
                     tokens=2048, english=WRITTEN, share=0.12, dev=100),
                5700,
            ),
        },
    ),
}  # fmt: skip
"""Runs that were made: `trained/mpnet.npz` is of the third, the other of the fifth."""
READ = {
    "mpnet": ("pieces", (0, 1)),
    "multilingual-e5": ("e5", (0, 1, 2)),
}
"""Tokens and readers of the rows that a stage reads."""


def log(*words: object) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.time() - STARTED:6.1f}]", *words, flush=True)


def fastest_kind(device: str) -> torch.dtype:
    """bfloat16, or float32 where a CPU multiplies faster in that: some have no units for it."""
    seconds = {}
    for kind in (torch.bfloat16, torch.float32):
        left = torch.ones(1024, 512, dtype=kind, device=device)
        right = left.T.contiguous()
        for _warm_up in range(5):
            left @ right
        began = time.perf_counter()
        (left @ right).sum().item()
        seconds[kind] = time.perf_counter() - began
    log({str(kind): f"{2**30 / 1e9 / taken:.0f} GFLOP/s" for kind, taken in seconds.items()})
    return torch.bfloat16 if device == "cuda" else min(seconds, key=lambda kind: seconds[kind])


def log_odds_of(
    network: Aligning, sequences: Sequences, chosen: np.ndarray, tokens: int
) -> np.ndarray:
    """Log-odds of rows (positions in `sequences.rows`), shape (rows,)."""
    network.eval()
    log_odds = np.zeros(len(sequences.rows), np.float32)
    with torch.no_grad():
        for batch in sequences.batches(chosen, tokens):
            ids, _marks = sequences.batch(batch)
            log_odds[batch] = network(ids)[0].float().cpu().numpy()
    network.train()
    ordered: np.ndarray = log_odds[chosen]
    return ordered


def mark_hits(
    network: Aligning, sequences: Sequences, data: Data, chosen: np.ndarray, tokens: int
) -> float:
    """Share of rows with a known wrong word whose highest mark is on one."""
    wrong = chosen[sequences.known[chosen] & (data.label[sequences.rows[chosen]] < 0.5)]
    hits = 0
    network.eval()
    with torch.no_grad():
        for batch in sequences.batches(wrong, tokens):
            ids, truth = sequences.batch(batch)
            _log_odds, marks = network(ids)
            worst = marks.masked_fill(~network.parts(ids)[1], -1e4).argmax(1, keepdim=True)
            hits += int(truth.gather(1, worst).sum())
    network.train()
    return hits / max(1, len(wrong))


def report(data: Data, rows: np.ndarray, log_odds: np.ndarray) -> dict[str, dict[str, Any]]:
    """Rows, AUROC, accuracy and errors by set, and by kind and language of hand-written rows."""
    sets, kinds, labels = data.sets[rows], data.kinds[rows], data.label[rows]
    names = np.array(
        [
            f"{dataset}, held fifth" if held_out else dataset
            for dataset, held_out in zip(sets, data.held_out[rows], strict=True)
        ]
    )
    groups = [(str(name), names == name) for name in np.unique(names)]
    for name in ("contrast", "injected", "junk"):
        for kind in np.unique(kinds[sets == name]):
            groups.append((f"{name}: {kind}", (sets == name) & (kinds == kind)))
    languages = data.languages[rows]
    for language in np.unique(languages[sets == "contrast"]):
        chosen = (sets == "contrast") & (languages == language)
        groups.append((f"contrast in: {language}", chosen))
    figures: dict[str, dict[str, Any]] = {}
    for name, chosen in groups:
        right, accepted = labels[chosen] >= 0.5, log_odds[chosen] > 0
        figures[name] = {
            "rows": int(chosen.sum()),
            "auroc": round(auroc(log_odds[chosen], labels[chosen]), 4),
            "accuracy": round(float((right == accepted).mean()), 4),
            "wrong_accepted": round(float(accepted[~right].mean()), 4) if (~right).any() else None,
            "right_rejected": round(float((~accepted[right]).mean()), 4) if right.any() else None,
        }
    return figures


def summary(figures: dict[str, dict[str, Any]]) -> float:
    """The figure that states are chosen by: the mean over sets of AUROC and accuracy.

    Hand-written rows have weight 4, the held fifth of the graded sets has none.
    """
    total = weight = 0.0
    for name, row in figures.items():
        if ":" in name or "held" in name or row["rows"] < 30 or np.isnan(row["auroc"]):
            continue
        own = 4.0 if name == "contrast" else 1.0
        total += own * (row["auroc"] + row["accuracy"]) / 2
        weight += own
    return total / weight if weight else 0.0


class MovingAverage:
    """An exponential moving average of what is trained."""

    def __init__(self, network: Aligning) -> None:
        self.own = list(trained_state(network).values())
        self.mean = [tensor.clone() for tensor in self.own]
        self.steps = 0

    def update(self) -> None:
        """Include the present weights."""
        self.steps += 1
        old_share = min(AVERAGED, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(self.mean, self.own, 1 - old_share)

    def swap(self) -> None:
        """Exchange the weights and their average; a second call restores both."""
        for own, mean in zip(self.own, self.mean, strict=True):
            weights_now = own.clone()
            own.copy_(mean)
            mean.copy_(weights_now)


@dataclass
class Best:
    """The best state so far: its figure, when it was evaluated, and its log-odds of dev rows."""

    figure: float
    when: str
    state: dict[str, Tensor]
    log_odds: np.ndarray


class Trainer:
    """One network and its rows.

    Args:
        name: of the stage.
        network: what is trained.
        data: all rows.
        sequences: those that the network reads.
        plan: how it is trained.
        until: when it must end, in seconds since 1970.
        seed: of the order of rows.
        save: is called with each state that is better than those before.
    """

    def __init__(
        self,
        name: str,
        network: Aligning,
        data: Data,
        sequences: Sequences,
        plan: Plan,
        until: float,
        seed: int,
        save: Callable[[Best], None],
    ) -> None:
        self.save = save
        self.name, self.network, self.data, self.sequences = name, network, data, sequences
        self.plan, self.until, self.seed, self.began = plan, until, seed, time.time()
        self.tokens = plan.tokens
        part, device = data.part[sequences.rows], sequences.device
        self.train = np.flatnonzero(part == TRAIN)
        self.written = ((data.sets == "contrast") & (data.readers > 0))[sequences.rows]
        written = np.flatnonzero(self.written & (part == TRAIN))
        self.train = np.concatenate([self.train, *[written] * (plan.repeats - 1)])
        self.dev = np.flatnonzero(part == DEV)
        if plan.dev is not None:
            sets = data.sets[sequences.rows[self.dev]]
            by_set = [self.dev[sets == name] for name in np.unique(sets) if name not in WRITTEN]
            by_set = [rows[:: -(-len(rows) // plan.dev)] for rows in by_set]
            self.dev = np.sort(np.concatenate([self.dev[np.isin(sets, WRITTEN)], *by_set]))
        label = torch.from_numpy(data.label[sequences.rows]).to(device)
        self.target = label * (1 - SMOOTHING) + SMOOTHING / 2
        weight = data.weight[sequences.rows]
        if name == "multilingual-e5":
            foreign = data.readers[sequences.rows] > 0
            weight = weight * np.where(foreign, FOREIGN, 1).astype(np.float32)
        self.weight = torch.from_numpy(weight).to(device)
        self.known = torch.from_numpy(sequences.known).to(device)
        self.optimiser = self._optimiser(fused=device == "cuda")
        self.average = MovingAverage(network)
        self.best: Best | None = None
        self.history: list[dict[str, Any]] = []
        self.skipped = self.steps = 0

    def _optimiser(self, *, fused: bool) -> torch.optim.AdamW:
        """AdamW with a rate for the encoder and one for the heads; only matrices are decayed."""
        inner: list[nn.Parameter] = []
        outer: list[nn.Parameter] = []
        for name, parameter in self.network.named_parameters():
            (inner if name.startswith("encoder.") else outer).append(parameter)
        self.parameters = [*inner, *outer]
        groups = [
            {
                "params": [parameter for parameter in many if (parameter.ndim > 1) == matrix],
                "top": top,
                "weight_decay": DECAY if matrix else 0.0,
            }
            for many, top in ((inner, self.plan.rate), (outer, self.plan.head_rate))
            for matrix in (True, False)
        ]
        groups = [group for group in groups if group["params"]]
        return torch.optim.AdamW(groups, lr=self.plan.rate, betas=(0.9, 0.98), fused=fused)

    def loss(self, chosen: np.ndarray) -> Tensor:
        """Weighted mean of cross entropies of verdicts, in nats, and that of the token head."""
        ids, marks = self.sequences.batch(chosen)
        picked = torch.from_numpy(chosen).to(ids.device, non_blocking=True)
        words = self.network.parts(ids)[1] & self.known[picked][:, None]
        target, weight = self.target[picked], self.weight[picked]
        if self.plan.agreement:
            ids, marks, words = (both.repeat(2, 1) for both in (ids, marks, words))
            target, weight = target.repeat(2), weight.repeat(2)
        log_odds, token_log_odds = self.network(ids)
        verdict = functional.binary_cross_entropy_with_logits(
            log_odds, target, weight=weight, reduction="sum"
        )
        if self.plan.agreement:
            one, other = log_odds.chunk(2)
            # The sum of both Kullback-Leibler divergences, in nats.
            apart = (one.sigmoid() - other.sigmoid()) * (one - other)
            verdict = verdict + self.plan.agreement * (weight[: len(chosen)] * apart).sum()
        truth = marks.float()
        token_weight = words * (1 + (MARK_WEIGHT - 1) * truth)
        tokens = functional.binary_cross_entropy_with_logits(
            token_log_odds, truth, weight=token_weight, reduction="sum"
        )
        return verdict / weight.sum() + MARK_SHARE * tokens / token_weight.sum().clamp(min=200.0)

    def step(self, chosen: np.ndarray, done: float) -> float | None:
        """One update at a point of the schedule (0 to 1); None where the gradient is not finite."""
        factor = done / WARMUP if done < WARMUP else max(0.02, (1 - done) / (1 - WARMUP))
        for group in self.optimiser.param_groups:
            group["lr"] = group["top"] * factor
        loss = self.loss(chosen)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        finite = bool(torch.isfinite(norm))
        if finite:
            self.optimiser.step()
            self.average.update()
        else:
            self.skipped += 1
        self.optimiser.zero_grad(set_to_none=True)
        self.steps += 1
        return loss.item() if finite else None

    def epochs(self, chosen: np.ndarray, count: float, seed: int) -> Iterator[np.ndarray]:
        """Batches of some passes, the last of which may be a part of one."""
        number = 0
        while count > 0:
            chance = np.random.default_rng([self.seed, seed, number])
            drawn = chosen
            if self.plan.share < 1:
                others = chance.random(len(chosen)) < self.plan.share
                drawn = chosen[self.written[chosen] | others]
            batches = self.sequences.batches(drawn, self.tokens, chance)
            yield from batches[: max(1, round(len(batches) * min(1.0, count)))]
            number, count = number + 1, count - 1

    def _tokens_of(self, chosen: np.ndarray) -> float:
        """Tokens that a pass over these rows is expected to read."""
        share = np.where(self.written[chosen], 1.0, self.plan.share)
        return float((self.sequences.lengths[chosen] * share).sum())

    def run(self) -> None:
        """Both phases; evaluated after the first and after each part of the second."""
        self.began = time.time()  # what the evaluation before took is no part of the warm-up
        plan, lengths = self.plan, self.sequences.lengths
        short = self.train[lengths[self.train] <= SHORT]
        size = {1: self._tokens_of(short), 2: self._tokens_of(self.train)}
        budget = max(1.0, self.until - self.began)
        turn = self.began + budget * (1 - plan.late)
        # Number, rows, passes and latest end of each part.
        phases = [(1, short, plan.short_epochs, turn)] if plan.short_epochs else []
        phases += [(2, self.train, plan.epochs / plan.parts, self.until)] * plan.parts
        total = sum(size[phase] * count for phase, _rows, count, _end in phases)
        log(f"{self.name}: {len(self.train):,} rows, {len(short):,} short, "
            f"{size[2] / 1e6:.1f}M tokens; plan {total / 1e6:.0f}M in {budget:.0f} s")  # fmt: skip
        self.network.train()
        seen, losses = 0.0, []
        left, late_from, late_seen, reached = total, 0.0, 0.0, 0.0
        for number, (phase, chosen, count, end) in enumerate(phases):
            if phase == 2 and not late_from:
                # The time that the short rows did not use, or used too much of, is shared anew.
                late_from, late_seen = time.time(), seen
                reached = max(seen / total, (late_from - self.began) / budget)
                left = sum(size[2] * many for one, _rows, many, _end in phases if one == 2)
            for batch in self.epochs(chosen, count, number):
                now = time.time()
                if now >= end:
                    log(f"{self.name}: time is up for phase {phase}")
                    break
                # Progress is the larger of two shares, of the planned tokens and of the time, so
                # that the rate falls to its end whichever ends first.
                if phase == 1:
                    done = max(seen / total, (now - self.began) / budget)
                else:
                    spent = (now - late_from) / max(1e-3, self.until - late_from)
                    done = reached + (1 - reached) * max((seen - late_seen) / left, spent)
                loss = self.guarded(batch, min(1.0, done))
                seen += float(lengths[batch].sum())
                if loss is not None:
                    losses.append(loss)
                if self.steps in (20, 100) or self.steps % 250 == 0:
                    mean = np.mean(losses[-100:])
                    log(f"{self.name} phase {phase} step {self.steps}: loss {mean:.4f}, "
                        f"{seen / 1e6:.1f}M tokens, done {done:.2f}")  # fmt: skip
            self.evaluate(f"part {number + 1}")
        log(f"{self.name}: {self.steps} steps, {self.skipped} skipped, {seen / 1e6:.1f}M tokens")

    def guarded(self, batch: np.ndarray, done: float) -> float | None:
        """A step; out of memory, one of each half, and batches are half as large from then on."""
        try:
            return self.step(batch, done)
        except torch.cuda.OutOfMemoryError:
            self.optimiser.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            self.tokens //= 2
            log(f"{self.name}: out of memory with {len(batch)} rows; batches of {self.tokens} now")
            if len(batch) < 4:
                raise
            half = len(batch) // 2
            self.guarded(batch[:half], done)
            return self.guarded(batch[half:], done)

    def evaluate(self, when: str) -> None:
        """Figures of the weights' average on the dev rows; the best state stays."""
        how = "average" if self.steps else "weights"
        self.average.swap()
        tokens = self.tokens * 2
        log_odds = log_odds_of(self.network, self.sequences, self.dev, tokens)
        figures = report(self.data, self.sequences.rows[self.dev], log_odds)
        figure = summary(figures)
        hit = mark_hits(self.network, self.sequences, self.data, self.dev, tokens)
        log(f"{self.name} {when}, {how}: {figure:.4f}; worst mark on a wrong word {hit:.3f}")
        self.history.append(
            {"when": when, "how": how, "steps": self.steps, "figure": figure, "hit": hit,
             "seconds": round(time.time() - self.began, 1), "sets": figures}
        )  # fmt: skip
        if self.best is None or figure > self.best.figure:
            self.best = Best(figure, f"{when}, {how}", self._copy(), log_odds)
            self.save(self.best)
        self.average.swap()

    def _copy(self) -> dict[str, Tensor]:
        return {name: tensor.clone() for name, tensor in trained_state(self.network).items()}

    def finish(self) -> Best:
        """Put the best state into the network."""
        if self.best is None:
            try:
                self.evaluate("end")
            except Exception:  # weights without figures are better than none
                traceback.print_exc()
        if self.best is None:
            nothing = np.zeros(len(self.dev), np.float32)
            self.best = Best(0.0, "not evaluated", self._copy(), nothing)
            self.save(self.best)
        load_trained(self.network, _arrays(self.best.state))
        log(f"{self.name}: saved state: {self.best.when}, {self.best.figure:.4f}")
        return self.best


def _arrays(state: dict[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.detach().float().cpu().numpy() for name, tensor in state.items()}


class Output:
    """The files of a run; each is there whole or not at all, whenever the run is stopped.

    Args:
        folder: where they are written.
        most: bytes of an archive of weights, before compression; some machines give back only
            files up to a size.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self.results: dict[str, Any] = {}
        self.scores: dict[str, np.ndarray] = {}

    def write(self) -> None:
        """Write what is known so far."""
        new = self.folder / "new.json"
        new.write_text(json.dumps(self.results, indent=1), encoding="utf-8")
        new.replace(self.folder / "results.json")
        new = self.folder / "new.npz"
        arrays: dict[str, Any] = self.scores
        np.savez_compressed(new, **arrays)
        new.replace(self.folder / "scores.npz")

    def state(self, name: str, tensors: dict[str, Tensor], **metadata: Any) -> None:
        """Write trained tensors in float16 as NAME-0.npz, NAME-1.npz and so on."""
        archives: list[dict[str, np.ndarray]] = [{}]
        size = 0
        for key, tensor in tensors.items():
            array = tensor.detach().half().cpu().numpy()
            if size + array.nbytes > self.most:
                archives.append({})
                size = 0
            archives[-1][key] = array
            size += array.nbytes
        for number, arrays in enumerate(archives):
            new = self.folder / "new.npz"
            weights.save(new, arrays, encoder=name, **metadata)
            new.replace(self.folder / f"{name}-{number}.npz")


@dataclass
class Stages:
    """What the stages of a run share."""

    work: Path
    data: Data
    output: Output
    device: str
    kind: torch.dtype
    number: int
    run: Run
    start: Path | None

    def stage(self, name: str, until: float, tokens: int) -> None:
        """Train, evaluate and save one network, in batches of `tokens` (0: as the plan says)."""
        torch.manual_seed(self.run.seed)
        plan = self.run.stages[name][0]
        plan = replace(plan, tokens=tokens) if tokens else plan
        column, readers = READ[name]
        packed, metadata = weights.open_archives(*sorted(self.work.glob(f"{name}-*.npz")))
        shape = Shape(**metadata["shape"])
        tensors = weights.unpack(packed)
        network = build(tensors, shape, self.kind, self.device)
        rows = self.data.rows(readers)
        if plan.english is not None:
            foreign = self.data.languages[rows] != "en"
            training = self.data.part[rows] == TRAIN
            rows = rows[foreign | (training & np.isin(self.data.sets[rows], plan.english))]
        sequences = Sequences(self.data, rows, column, shape, self.device)
        log(f"{name}: {sum(map(torch.numel, trained_state(network).values())):,} trained weights")
        seed = self.run.seed
        if self.start:
            load_trained(network, weights.unpack(weights.open_archives(self.start)[0]))

        def save(best: Best) -> None:
            self.output.state(
                name, best.state, shape=shape.as_dict(), state=best.when, run=self.number
            )

        trainer = Trainer(name, network, self.data, sequences, plan, until, seed, save)
        try:
            if self.start:
                trainer.evaluate("start")
            trainer.run()
        except Exception:
            log(f"{name}: training failed; what is trained so far is saved")
            traceback.print_exc()
        best = trainer.finish()
        self.output.results[name] = {"plan": asdict(plan), "history": trainer.history}
        self.output.scores |= {
            f"{name}_dev_rows": rows[trainer.dev].astype(np.uint32),
            f"{name}_dev_ids": self.data.arrays["id"][rows[trainer.dev]],
            f"{name}_dev_logits": best.log_odds,
        }
        self.output.write()
        log(f"{name}: saved")
        try:
            self.afterwards(name, trainer, tensors, shape)
        except Exception:
            traceback.print_exc()
        self.output.write()
        del trainer, network, sequences
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def afterwards(
        self, name: str, trainer: Trainer, tensors: dict[str, np.ndarray], shape: Shape
    ) -> None:
        """Scores in float32, and what 8 bits change."""
        sequences, dev, network = trainer.sequences, trainer.dev, trainer.network
        some = dev[:: max(1, len(dev) // 64)]
        low = log_odds_of(network, sequences, some, trainer.tokens)
        exact = build(tensors, shape, torch.float32, self.device)
        state = _arrays(trained_state(network))
        load_trained(exact, {key: array.astype(np.float16) for key, array in state.items()})
        torch.set_float32_matmul_precision("highest")
        high = log_odds_of(exact, sequences, some, trainer.tokens // 4)
        torch.set_float32_matmul_precision("high")
        difference = np.abs(low - high)
        log(f"{name}: log-odds in {self.kind} and in float32 (weights saved in float16): largest "
            f"difference {difference.max():.3f}, mean {difference.mean():.4f}")  # fmt: skip
        scores = self.output.scores
        scores[f"{name}_exact_rows"] = sequences.rows[some].astype(np.uint32)
        scores[f"{name}_exact_logits"] = high
        del exact
        load_trained(network, weights.unpack(weights.pack_trained(state)))
        log_odds = log_odds_of(network, sequences, dev, trainer.tokens * 2)
        figure = summary(report(self.data, sequences.rows[dev], log_odds))
        log(f"{name}: with what was trained in 8 bits {figure:.4f}")
        self.output.results[name]["eight_bits"] = figure


def main() -> None:
    """All stages of a run, each within its time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", type=Path, help="the folder that recipes.encoder.pack wrote")
    parser.add_argument("out", type=Path)
    parser.add_argument("--run", type=int, default=3, choices=sorted(RUNS))
    parser.add_argument("--stages", nargs="*", choices=sorted(READ))
    parser.add_argument("--start", type=Path, help="the trained state of an earlier run")
    parser.add_argument("--deadline", type=float, default=550.0, help="seconds from the start")
    parser.add_argument("--reserve", type=float, default=14.0, help="seconds to evaluate and save")
    parser.add_argument("--file-bytes", type=int, default=15_000_000, help="of a file of weights")
    parser.add_argument("--small", type=int, default=0, help="rows of each part, for a test")
    parser.add_argument("--tokens", type=int, default=0, help="of a batch; else as the plan has")
    options = parser.parse_args()
    run = RUNS[options.run]
    names = options.stages or list(run.stages)
    if absent := [name for name in names if name not in run.stages]:
        parser.error(f"run {options.run} has no stage {', '.join(absent)}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = fastest_kind(device)
    if device == "cuda":
        log(torch.cuda.get_device_name(), torch.__version__)
        torch.set_float32_matmul_precision("high")
        # cuDNN's attention makes a plan for every new shape, which costs more than it saves.
        torch.backends.cuda.enable_cudnn_sdp(False)
    options.out.mkdir(parents=True, exist_ok=True)
    data = Data(options.work / "data.npz", options.small, run.seed)
    log(f"{len(data.part):,} rows")
    output = Output(options.out, options.file_bytes)
    stages = Stages(options.work, data, output, device, kind, options.run, run, options.start)
    for number, name in enumerate(names):
        later = sum(run.stages[other][1] for other in names[number + 1 :])
        # Time that an earlier stage did not use goes to the later ones, within the deadline.
        until = min(time.time() + run.stages[name][1], STARTED + options.deadline - later)
        if until - time.time() < options.reserve + 5 and not options.small:
            log(f"{name}: no time left")
            continue
        try:
            stages.stage(name, until - options.reserve, options.tokens)
        except Exception:
            log(f"{name}: failed")
            traceback.print_exc()
            if device == "cuda":
                torch.cuda.empty_cache()
    log("done")


if __name__ == "__main__":
    main()
