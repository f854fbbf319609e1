"""Sixty answers that are hard to show, of our own making: (name, text, what must be read)."""

from __future__ import annotations

LONG = "x" * 2_000
TABLE = "| city | people | area |\n|---|---:|:---:|\n| Oslo | 717,710 | 454 |\n| Bergen | 291,940 | 465 |"
WIDE_TABLE = "\n".join(
    [
        "|" + "|".join(f" column {n} " for n in range(24)) + "|",
        "|" + "---|" * 24,
        *("|" + "|".join(f" {row * 24 + n} " for n in range(24)) + "|" for row in range(3)),
    ]
)
FENCE = "```"

GALLERY: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # Values that Markdown would change.
    ("product of numbers", "5*3*2 = 30", ("5*3*2 = 30",)),
    ("power in Python", "2**10**1 is 1024", ("2**10**1 is 1024",)),
    ("greater than three", "> 3", ("> 3",)),
    ("below zero", "- 5 °C", ("- 5 °C",)),
    ("a year with a full stop", "1986. That was the year.", ("1986. That was the year.",)),
    ("number sign", "# 7", ("# 7",)),
    ("dunder name", "__init__ runs before __call__", ("__init__ runs before __call__",)),
    ("snake case", "use max_value_of_row_id", ("max_value_of_row_id",)),
    ("prices", "between $5 and $10, or 3$ to 4$", ("$5 and $10", "3$ to 4$")),
    ("tilde for about", "~5~6 km, ~ 7 km", ("~5~6 km, ~ 7 km",)),
    ("pattern characters", r"a\.b\*c", ("a.b*c",)),
    ("less than and more than", "a < b && c > d", ("a < b && c > d",)),
    ("entity as written", "use &lt;br&gt; and &nbsp;", ("&lt;br&gt;", "&nbsp;")),
    ("lines that end nothing", "first\nsecond\nthird", ("first", "second", "third")),
    ("definition of a link", "see below\n[1]: https://example.org/paper 'A'", ("[1]: https://example.org/paper",)),
    ("indented first line", "answer:\n\n    42 apples", ("42 apples",)),
    # Markdown.
    ("bold", "It is **Paris**, not __Rome__.", ("Paris",)),
    ("headings", "# Answer\n\n## Because\n\ntext\n\nAlso\n====\n\nmore", ("Answer", "Because", "Also")),
    ("lists in lists", "- one\n  - two\n    - three\n      1. four\n- five", ("one", "four", "five")),
    ("loose list", "1. one\n\n2. two\n\n   still two\n\n3. three", ("still two", "three")),
    ("tasks", "- [x] done\n- [ ] open", ("[x] done", "[ ] open")),
    ("quotation", "> she said\n> > he said\n\nso", ("she said", "he said")),
    ("table", f"Figures:\n\n{TABLE}\n\nas of 2024", ("717,710", "as of 2024")),
    ("table of 24 columns", WIDE_TABLE, ("column 23", "71")),
    ("table with code and marks", "| a | b |\n|---|---|\n| `x|y` | **z** |\n| $x_1$ | \\* |", ("z",)),
    ("table without its outer bars", "a | b\n--- | ---\n1 | 2", ("1", "2")),
    ("broken table", "| a | b |\n|--|\n| 1 | 2 | 3 |", ("| 1 | 2 | 3 |",)),
    ("rule and struck text", "~~Rome~~ Paris\n\n---\n\nend", ("Rome", "Paris", "end")),
    ("link and picture", "[the page](https://example.org/a) ![map](https://example.org/m.png)", ("the page", "https://example.org/a", "https://example.org/m.png")),
    ("deep quotation", ">" * 60 + " deep\n" + "> " * 60 + "x", ("deep",)),
    ("unclosed everything", "**bold _it `code [link](http", ("**bold _it `code [link](http",)),
    # Code.
    ("program", f"Use:\n{FENCE}python\ndef f(x):\n\treturn x ** 2  # <b>not bold</b>\n{FENCE}", ("def f(x):", "<b>not bold</b>")),
    ("program with a long line", f"{FENCE}\n{'call(' * 120}\n{FENCE}", ("call(call(",)),
    ("unclosed fence", f"{FENCE}sql\nSELECT * FROM t WHERE a < 3", ("SELECT * FROM t WHERE a < 3",)),
    ("code in a sentence", "Set `max_rows=10*2*3` and `` a`b ``.", ("max_rows=10*2*3", "a`b")),
    ("JSON", '{"answer": "Paris", "list": [1, 2, {"x": null}]}', ('"answer": "Paris"',)),
    ("HTML page", "<!doctype html><html><body onload=alert(1)><h1>Hi</h1></body></html>", ("<h1>Hi</h1>",)),
    ("diff", f"{FENCE}diff\n- old\n+ new\n{FENCE}", ("- old", "+ new")),
    # Formulae.
    ("formula in a sentence", r"so \(x = \frac{1}{2}\) and $y^2$", ("so", "and")),
    ("formula on its own line", "Then\n\\[\n\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}\n\\]\nfollows.", ("Then", "follows.")),
    ("boxed result", r"The answer is $\boxed{42}$.", ("42",)),
    ("matrix", "$$\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$", ("1", "4")),
    ("broken formula", r"it is \(\frac{1\) or $\nosuchcommand{$ done", ("done",)),
    ("long formula", "$$" + "+".join(f"x_{{{n}}}" for n in range(150)) + "$$", ()),
    ("chemistry", r"$\mathrm{H_2O}$ and \(\mathrm{CO_2}\)", ("and",)),
    # Scripts and directions.
    ("Arabic", "العاصمة هي باريس (Paris)، وعدد سكانها 2,1 مليون.", ("باريس", "Paris")),
    ("Hebrew with English inside", "התשובה היא **New York** ולא Boston.", ("New York", "Boston")),
    ("Arabic list and table", "- أولا\n- ثانيا\n\n| مدينة | عدد |\n|---|---|\n| القاهرة | 10 |", ("أولا", "القاهرة")),
    ("English then Persian", "The word is\nکتاب یعنی book\nin Persian.", ("کتاب", "in Persian.")),
    ("direction override", "user\u202egnp.exe and \u2067more", ("and",)),
    ("Chinese without spaces", "答案是**巴黎**,因为" + "它是法国的首都" * 40, ("巴黎",)),
    ("Thai and Devanagari", "คำตอบคือกรุงเทพมหานคร และ दिल्ली भारत की राजधानी है।", ("दिल्ली",)),
    ("many marks on a letter", "Z" + "\u0351\u0363\u035b" * 30 + "algo", ("algo",)),
    ("emoji of several parts", "👩‍👩‍👧‍👦 🏳️‍🌈 ✅ 1️⃣", ("✅",)),
    # Length.
    ("2,000 characters without a break", LONG, (LONG,)),
    ("long address", "https://example.org/" + "a/b" * 300 + "?q=" + "1" * 300, ("https://example.org/",)),
    ("80,000 characters", "one two three **four** " * 3_500, ("one two three",)),
    # Attacks.
    ("script", "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">", ("<script>",)),
    ("script by Markdown", "[x](javascript:document.title='broken') ![y](x\" onerror=\"document.title='broken') <javascript:alert(1)>", ("javascript:document.title",)),
    ("script by LaTeX", r"\(\text{<script>document.title='broken'</script>}\) \(\href{javascript:alert(1)}{go}\) \(\style{position:fixed}{s}\) $</math><script>x_1$", ()),
)  # fmt: skip
