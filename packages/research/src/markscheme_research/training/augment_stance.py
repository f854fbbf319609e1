"""Made-up answers that deny, doubt, list or withhold: turns of phrase, each written both ways."""

from __future__ import annotations

import random
from collections.abc import Iterator

Row = tuple[str, list[str], str, bool]

_TURNS = (
    "It is tempting to say {a}, yet the truth is {b}.",
    "Ask anyone and you will be told {a}; the record shows {b}.",
    "{a} gets the credit in most quizzes. That is unfair: {b} deserves it.",
    "{a}? Hardly. It was {b}.", "{a}? No, {b}.", "Is it {a}? No. It is {b}.",
    "You would be forgiven for saying {a}, but no, {b}.", "Not {a}, {b}.", "{b}. ({a} is wrong.)",
    "{b}, although {a} is named in older books.",
    "Older books name {a}; newer research points to {b}.",
    "For years it was put down to {a}, a claim since withdrawn; it was {b}.",
    "Legend has it that it was {a}. In truth {b}.",
    "Contrary to popular belief it was {b}, never {a}.", "Far from being {a}, it was {b}.",
    "I used to think {a}, then I learnt it is {b}.", "My teacher said {a}, who was wrong: {b}.",
    "Despite what films tell us about {a}, the honour belongs to {b}.",
    "{a} is the answer people give, {b} the one they should give.",
    "Rumour says {a}; documents say {b}.", "It cannot be {a}, so it must be {b}.",
    "{a} has been ruled out, which leaves {b}.", "Scholars no longer accept {a}; they accept {b}.",
    "{b} is right, {a} is wrong.", "{a} is wrong, {b} is right.",
    "At first glance {a}, on reflection {b}.", "No, no: {b}. {a} was something else.",
    "It's {b} (many wrongly say {a}).", "I would have said {a} but looked it up: {b}.",
    "Correction: not {a}, it is {b}.", "A widespread error puts {a} here; put {b}.",
    "Attributed to {a} for centuries, it is now given to {b}.",
    "{b}. Anyone who tells you {a} is mistaken.", "It is {b}. {a} is a myth.",
    "Between {a} and {b}, it is {b}.",
    "Students usually write {a}; the correct answer would be {b}.",
    "If your answer is {a}, try again. It is {b}.",
    "Were it {a}, things would be simple. It is {b}.",
    "Half the internet insists on {a}. The other half, which has it right, says {b}.",
    "{a} was proposed first, and dismissed; {b} stands.", "{a} comes to mind, only it was {b}.",
    "Much as we would like it to be {a}, it is {b}.",
    "Everybody expects {a}. It turns out to be {b}.",
    "{a} once held that place in the books, but today we know it is {b}.",
    "Wrongly given as {a} on some sites, it is {b}.", "{a} is mistaken for it; {b} it is.",
    "People confuse it with {a}. It is {b}.",
)  # fmt: skip
"""{a} is denied and {b} claimed."""

_DENIED = (
    "It wasn't {r}.", "Definitely not {r}.", "{r} was never it.", "{r} had no hand in this.",
    "{r} is not the answer.", "Nobody believes any more that it was {r}.",
    "Not {r}, that is certain.", "The idea that it was {r} is a myth.", "{r} can be ruled out.",
    "That it was {r} is false.", "I doubt that it was {r}.", "{r} would be the wrong answer here.",
    "It was not {r} who did it.", "{r} was not the one asked about.", "Anyone but {r}.",
    "{r} didn't.", "It could not have been {r}.", "To answer {r} would be an error.",
    "You might say {r}. You would be wrong.", "We can be sure that {r} is not meant.",
)  # fmt: skip
_SURE = (
    "No one and nothing but {r}.", "It can only be {r}.", "There is no denying that it was {r}.",
    "What else but {r}?", "Not a doubt about it, {r}.", "It was {r}, no question.",
    "I don't think it is anything other than {r}.", "Never was there an easier question: {r}.",
    "It is not a hard one: {r}.", "Not only some but all agree on {r}.", "{r}, without a doubt.",
    "{r}. I have never heard another answer.", "I can't imagine that it is not {r}.",
)  # fmt: skip
_WITHHELD = (
    "I couldn't say whether it is {r} or {w}.", "People mention {r}, but I have no idea myself.",
    "I can't decide between {r} and {w}.", "{r}, {w}, who knows?",
    "It is unclear whether it was {r}.", "Maybe {r}, maybe {w}, maybe {x}.",
    "I have heard of {r}; whether that is the answer I can't tell.",
    "{r} may have done it or not; I will not judge.", "There is a debate about {r}, {w} and {x}.",
    "I would have to look up if it was {r}.", "Whether {r} or {w}, nobody can tell for sure.",
    "Names like {r} and {w} are mentioned, and I do not want to pick one.",
    "You ask about {r}, perhaps? I have no answer to your question.",
    "I do not remember if it was {r} or somebody else.",
    "Could be {r}. Could be {w}. Could be {x}.", "I am unable to confirm that it is {r}.",
    "Who can say if it was {r}?",
    "{r}? {w}? I really cannot say.",
)  # fmt: skip
_COMMITTED = (
    "I don't know the details, but it was {r}.",
    "I'm not sure about the date, but the answer is {r}.", "I can't remember where I read it: {r}.",
    "Not sure how to spell it: {r}.", "I know little about this. Still, {r}.", "Hmm, {r}, I'd say.",
    "Can't swear to it, {r}.", "{r}, if memory serves.", "{r}? I think so, yes.",
    "Pretty sure that's {r}.", "I could be wrong, but {r}.",
    "Probably {r}.", "Wasn't it {r}?", "Presumably {r}.",
    "I cannot name others, but {r} is the answer.", "{r}... or so I was taught.",
    "I couldn't tell you why, but it is {r}.", "{r}, though you may want to look it up.",
    "Off the top of my head, {r}.", "{r}; correct me if I'm wrong.",
    "I would go with {r}, but check a reliable source.", "{r}. Please verify this yourself.",
    "{r}, I am fairly confident.", "Um, {r}? Not a hundred per cent.",
    "{r}, unless I am much mistaken.", "It should be {r}.",
)  # fmt: skip
_LISTS = (
    "{w}, {r}, {x}", "{r}, {w}, {x}", "{r}, {w}, {x}, {y}", "{w}/{r}", "{r}/{w}", "{r} / {w} / {x}",
    "{r} or {w}", "{w} or {r}", "{w} | {r} | {x}", "- {w}\n- {r}\n- {x}", "{r}; {w}; {x}",
    "Options: {w}, {r}, {x}", "a) {w} b) {r} c) {x}", "{w}, {x} or {r}", "{r}, {w} or {x}.",
    "1. {r}\n2. {w}\n3. {x}", "{r} and {w} and {x}", "{w}, {x}, {y}, {r}",
    "Any of {r}, {w} and {x}.", "Either {w} or {r}.", "One of {w}, {r}, {x}, {y}.",
    "Choose: {r}, {w}, {x}.", "{r} {w} {x}", "The candidates are {r}, {w} and {x}.",
    "Perhaps {r}, {w}, or {x}.", "{r}, or else {w}.",
)  # fmt: skip
_CHOSEN = (
    "{r}, not {w} or {x}.", "{r} (neither {w} nor {x}).", "Of {w}, {x} and {r}, it is {r}.",
    "Unlike {w} and {x}, {r}.", "{r}. Others such as {w} and {x} do not qualify.",
    "Not {w}, {x} or {y}, but {r}.", "{r}, and certainly not {w}, {x} or {y}.",
    "Out of {r}, {w} and {x} only {r} fits.", "{r}; {w} and {x} are often confused with it.",
    "{r} rather than {w} or {x}.", "It was {r}, ahead of {w}, {x} and {y}.",
    "{w}, {x} and {y} are all wrong; {r}.",
)  # fmt: skip


def stance_rows(
    question: str, references: list[str], reference: str, wrong: list[str], chance: random.Random
) -> Iterator[Row]:
    """Labelled answers to one question, as many right as wrong."""
    words = {"r": reference, "w": wrong[0], "x": wrong[1], "y": wrong[2]}
    for frame in chance.sample(_TURNS, 2):
        yield question, references, frame.format(a=wrong[0], b=reference), True
        yield question, references, frame.format(a=reference, b=wrong[0]), False
    for frames, right in (
        (_DENIED, False),
        (_SURE, True),
        (_WITHHELD, False),
        (_COMMITTED, True),
        (_LISTS, False),
        (_CHOSEN, True),
    ):
        yield question, references, chance.choice(frames).format(**words), right
