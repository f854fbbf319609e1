"""A command or a line of code, token by token: `git reset --soft HEAD~1`, `=COUNT(A1:A50)`.

Words are compared without signs and order elsewhere; of code every sign counts, and so does order,
but for options, their long forms, quotes and spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markscheme.text import by_word
from markscheme.values.outcome import Comparison, agreement, conflict

_PROGRAMS = frozenset(
    """
    git docker docker-compose podman kubectl helm minikube npm npx yarn pnpm node pip pip3
    pipx conda uv poetry python python3 pytest ruff mypy cargo rustc go javac mvn gradle
    gcc make cmake ls cp mv rm mkdir rmdir ln chmod chown chgrp touch cat tac head tail
    less grep egrep sed awk sort uniq wc cut tr tee xargs find locate which whereis tar zip
    unzip gzip gunzip ssh scp sftp rsync curl wget ping dig nslookup traceroute ip ifconfig
    netstat ss iptables ufw nmap ps top kill killall pkill nice nohup jobs bg fg systemctl
    service journalctl crontab df du mount umount free uname uptime whoami hostname useradd
    usermod userdel passwd groups sudo su apt apt-get yum dnf pacman brew snap dpkg rpm set
    unset export source alias echo printf env date diff patch openssl ssh-keygen gpg gh aws
    az gcloud terraform ansible ansible-playbook psql mysql mysqldump pg_dump sqlite3
    redis-cli mongosh ffmpeg pandoc jq tmux screen vim nano man history shutdown reboot
    dmesg lsof lsblk fdisk mkfs ipconfig tracert netsh sfc chkdsk dir del copy move ren cls
    tasklist taskkill robocopy perl ruby gem bundle php composer
    """.split()
)
_ALSO_WORDS = frozenset(
    """
    make sort find cut date set history man move copy less head tail touch which source
    service screen ping patch export free top kill nice jobs env alias echo go perl ruby
    dir su ip ss ps fg bg ren snap node composer gem bundle diff cat ln del rm
    """.split()
)
"""Programs that are English words too: a command only with an option, a path or in code marks."""
_SYNONYMS = by_word(
    {
        "pip": "pip3",
        "python": "python3",
        "apt": "apt-get",
        "grep": "egrep",
        "": "outer inner",
        "compose": "docker-compose",
        "pods": "po pod",
        "services": "svc service",
        "deployments": "deploy deployment",
        "namespaces": "ns",
    }
)
_SAME = (
    (re.compile(r"^docker container ls\b"), "docker ps"),
    (re.compile(r"^docker image ls\b"), "docker images"),
    (re.compile(r"^npm i\b"), "npm install"),
    (re.compile(r"\bHEAD(?:\^|~(?!\d))"), "HEAD~1"),
    (re.compile(r"^sudo "), ""),
)
_ANY_CASE = frozenset(["grep", "cp", "rm"])
"""Programs whose -r and -R do the same."""
_TALKATIVE = frozenset(["tar", "cp", "mv", "rm", "mkdir"])
"""Programs that only say more with -v."""
_IN_ORDER = frozenset(
    """
    cp mv ln scp rsync diff git
    """.split()
)
"""Programs of which the order of operands changes what happens."""
_WITH_VERBS = frozenset(
    """
    git docker podman kubectl helm minikube npm yarn pnpm pip conda uv poetry cargo go
    systemctl service apt yum dnf brew snap gh az gcloud terraform dotnet bundle composer
    compose
    """.split()
)
_WITH_SECOND_VERBS = frozenset(
    """
    stash remote submodule bisect worktree config container image network volume compose
    get rollout
    """.split()
)
_SPAN = re.compile(r"```[a-z]*\n?(.+?)```|``(.+?)``|`([^`\n]+)`", re.DOTALL)
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s\"']+")
_SIGNS = re.compile(r"\w+(?:\.\w+)*|==|!=|<=|>=|<>|&&|\|\||\*\*|//|->|=>|[^\w\s]")
_FORMULA = re.compile(r"^=\s*[A-Z][A-Z.]+\s*\(.*\)$", re.IGNORECASE | re.DOTALL)
_FORMULA_IN = re.compile(r"=\s*[A-Z][A-Z.]+\([^`\n]*\)", re.IGNORECASE)
_SQL = re.compile(
    r"^(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|ALTER|CREATE|DROP|TRUNCATE|GRANT|REVOKE|"
    r"(?:(?:LEFT|RIGHT|FULL|INNER|CROSS|NATURAL) (?:OUTER )?JOIN)|ORDER BY|GROUP BY|HAVING|UNION)\b"
)
_SQL_IN = re.compile(
    r"\b(?:SELECT\s+(?:\*|[\w.,\s(]+)\s+FROM\b|INSERT INTO|UPDATE\s+\w+\s+SET|DELETE FROM|"
    r"ALTER TABLE|CREATE (?:TABLE|INDEX|VIEW)|DROP TABLE|TRUNCATE)[^`\n]*|"
    r"\b(?:LEFT|RIGHT|FULL|INNER|CROSS) (?:OUTER )?JOIN\b",
    re.IGNORECASE,
)
_CALL = re.compile(r"^[A-Za-z_][\w.]*\.?\w{2,}\([^\n]*\)(?:\.\w+(?:\([^\n]*\))?)*;?$")
_PLACEHOLDER = re.compile(
    r"^<.*>$|^\[.*\]$|^\{.*\}$|^(?:your|my|some|the)[-_]|^[A-Z]+(?:_[A-Z]+)+$|^(?:foo|bar|file|filename|name|"
    r"branch|branch-name|container|image|package|path|user|id|pid|dir|directory|folder|url|host|server)s?$"
)
_STOP = frozenset(
    """
    to and or which that is are was will would does do shows lists gives for with then it
    this if when prints removes deletes creates returns stops starts makes so but because
    instead followed from command you your can should on at as not near
    """.split()
)
_FIGURES = re.compile(r"\d")
_VARIABLE = re.compile(r"^[a-z]\w{0,2}$|^(?:str|string|list|array|arr|obj|df|items|text|my_?\w+)$")
_STATEMENTS = frozenset(
    ["SELECT", "INSERT", "UPDATE", "DELETE", "ALTER", "CREATE", "DROP", "TRUNCATE"]
)
_MOST_TOKENS = 24
_MOST_COMMANDS = 8
_LONGEST_LINE, _LONGEST_ANSWER = 400, 4_000
"""Characters of a line of code, and of an answer in which lines are looked for."""
_MOST_DIFFERENT = 2


@dataclass(frozen=True)
class _Line:
    """Code as it is in the text, and its tokens with options sorted behind the others."""

    text: str
    tokens: tuple[str, ...]
    options: frozenset[str]


def compare_code(question: str, reference: str, answer: str) -> Comparison | None:
    """Whether the answer's command or line of code is the reference's; None if that is unclear.

    Two lines are the same where their tokens are, apart from the order and the long form of
    options, quotes and spaces. They conflict where a token or two differ: another option, operator,
    function or figure, or another name than the question gives. Longer differences are left to
    others: there is more than one way to do a thing.

    >>> compare_code("", "git reset --soft HEAD~1", "Run `git reset --hard HEAD~1`.").reason
    '--hard where the reference has --soft'
    """
    wanted = _reference(reference)
    if wanted is None:
        return None
    given = [
        line for line in _lines(answer[:_LONGEST_ANSWER], wanted) if line.tokens or line.options
    ]
    if not given:
        return None
    if any(_same(wanted, line) for line in given):
        if len({(line.tokens, line.options) for line in given}) > 1:
            return None  # names others too, to compare them or to offer them
        line = next(line for line in given if _same(wanted, line))
        return agreement(
            "identifier", wanted.text, line.text, 0.95, reason=f"both have {wanted.text}"
        )
    if len({(line.tokens, line.options) for line in given}) > 1:
        return None
    different = _difference(wanted, given[0], question)
    if different is None:
        return None
    one, other = different
    if not one:
        reason = f"{other}, which the reference has not"
    elif not other:
        reason = f"{one} is missing"
    else:
        reason = f"{other} where the reference has {one}"
    return conflict("identifier", wanted.text, given[0].text, 0.9, reason)


def _reference(text: str) -> _Line | None:
    bare = text.strip().rstrip(".").strip()
    if len(bare) > _LONGEST_LINE:
        return None
    marked = _SPAN.fullmatch(bare)
    if marked:
        bare = next(part for part in marked.groups() if part).strip()
    bare = bare.removeprefix("$ ")
    if len(bare.split()) > _MOST_TOKENS or not _is_code(bare, marked=bool(marked)):
        return None
    return _line(bare)


def _is_code(text: str, *, marked: bool) -> bool:
    if _FORMULA.match(text) or _SQL.match(text) or _CALL.match(text):
        return True
    first, _, rest = text.removeprefix("sudo ").partition(" ")
    if first not in _PROGRAMS:
        return False
    shown = re.search(r"(?:^|\s)[-+]{1,2}\w|[/~*|<>$]|\.\w", f" {rest}")
    return marked or bool(shown) or (first not in _ALSO_WORDS and len(rest.split()) <= 6)


def _lines(answer: str, wanted: _Line) -> list[_Line]:
    """Lines of code in an answer that are of the reference's kind."""
    marked = (next(part for part in hit.groups() if part) for hit in _SPAN.finditer(answer))
    spans = [part.strip() for part in marked if len(part) <= _LONGEST_LINE]
    if _FORMULA.match(wanted.text):
        found = [one for one in spans if _FORMULA.match(one)] or [
            hit[0] for hit in _FORMULA_IN.finditer(answer)
        ]
    elif _SQL.match(wanted.text):
        found = [one for one in spans if _SQL_IN.match(one)] or [
            hit[0] for hit in _SQL_IN.finditer(answer)
        ]
    elif _CALL.match(wanted.text):
        bare = answer.strip().rstrip(".")[:_LONGEST_LINE]
        found = [one for one in spans if _CALL.match(one)] or ([bare] if _CALL.match(bare) else [])
    else:
        program = wanted.tokens[0]
        found = [one for one in spans if _program(one) == program]
        if not found:
            found = _commands(answer, program)
    return [_line(one) for one in found]


def _program(text: str) -> str:
    first = _normal(text.removeprefix("$ ")).split(maxsplit=1)
    return _SYNONYMS.get(first[0], first[0]) if first else ""


def _commands(answer: str, program: str) -> list[str]:
    """Commands that begin with a program's name in a sentence without code marks."""
    found: list[str] = []
    for hit in re.finditer(rf"(?<![\w./-]){re.escape(program)}(?![\w-])", answer):
        tokens: list[str] = []
        if len(found) == _MOST_COMMANDS:
            break
        line = answer[hit.start() : hit.start() + _LONGEST_LINE].split("\n", maxsplit=1)[0]
        for part in _TOKEN.findall(line):
            if tokens and part.lower().strip(",;:.()") in _STOP and "-" not in part:
                break
            bare = part.rstrip(",;:)") if part == "." else part.rstrip(",;:).")
            tokens.append(bare)
            if bare != part:
                break
        if len(tokens) > 1 or answer.strip(" .`") == program:
            found.append(" ".join(filter(None, tokens)))
    return found


def _normal(text: str) -> str:
    text = " ".join(text.strip().rstrip(";").split()).removeprefix("$ ")
    for pattern, written in _SAME:
        text = pattern.sub(written, text)
    return text.strip()


def _line(text: str) -> _Line:
    plain = _normal(text)
    if _FORMULA.match(plain):
        signs = _SIGNS.findall(plain.upper().replace(";", ",").replace("$", ""))
        return _Line(plain, tuple(signs), frozenset())
    if _SQL.match(plain) or _SQL_IN.match(plain):
        signs = [sign.upper() for sign in _SIGNS.findall(plain.replace('"', "'"))]
        return _Line(plain, tuple(s for s in signs if s not in ("OUTER", "INNER")), frozenset())
    if _CALL.match(plain):
        signs = _SIGNS.findall(plain.replace('"', "'"))
        owner, dot, name = signs[0].rpartition(".")
        signs[0] = name if dot and _VARIABLE.match(owner) else signs[0]
        return _Line(
            plain, tuple("_" if _VARIABLE.match(s) and s != name else s for s in signs), frozenset()
        )
    tokens: list[str] = []
    options: set[str] = set()
    for raw in _TOKEN.findall(plain):
        token = raw.strip("\"'").replace("\\", "").removeprefix("./").removeprefix("pod/")
        token = _SYNONYMS.get(token, token.rstrip("/").removesuffix(".service") or token)
        if re.match(r"-[A-Za-z]{2,}$", token) and len(token) <= 5 and tokens[:1] != ["find"]:
            options |= {f"-{letter}" for letter in token[1:]}
        elif tokens and re.match(r"[-+]", token) and len(token) > 1:
            options.add(token.lower() if tokens[0] in _ANY_CASE else token)
        elif token:
            tokens.append(token)
    if tokens and tokens[0] in _TALKATIVE:
        options.discard("-v")
    return _Line(plain, tuple(tokens), frozenset(options))


def _same(one: _Line, other: _Line) -> bool:
    return _same_tokens(one.tokens, other.tokens) and not _unmatched(one.options, other.options)


def _same_tokens(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(one) == len(other) and all(
        a == b or (i > 1 and _PLACEHOLDER.match(a) and _PLACEHOLDER.match(b))
        for i, (a, b) in enumerate(zip(one, other, strict=True))
    )


def _unmatched(one: frozenset[str], other: frozenset[str]) -> tuple[list[str], list[str]] | None:
    """Options that only one side has, the long form of the other's letter left out."""
    left, right = sorted(one - other), sorted(other - one)
    for a in list(left):
        for b in list(right):
            short, long = sorted((a, b), key=len)
            if (
                re.match(r"-\w$", short)
                and long[2:3].lower() == short[1].lower()
                and long[:2] == "--"
            ):
                left.remove(a)
                right.remove(b)
                break
    return (left, right) if left or right else None


def _difference(one: _Line, other: _Line, question: str) -> tuple[str, str] | None:
    """What differs of two lines of code, where it is a token or two; None where it is more."""
    options = _unmatched(one.options, other.options)
    if options is not None:
        left, right = options
        if not left or not _same_tokens(one.tokens, other.tokens):
            return None  # more options than the reference may do no harm
        if any(a.startswith("--") != b.startswith("--") for a in left for b in right):
            return None  # a long and a short option may be the same
        if any(_FIGURES.findall(a) == _FIGURES.findall(b) != [] for a in left for b in right):
            return None  # -n5 may be -5
        return " ".join(left), " ".join(right)
    a, b = one.tokens, other.tokens
    if sorted(a) == sorted(b):
        return (" ".join(a), " ".join(b)) if a[0] in _IN_ORDER else None
    if len(a) != len(b):
        return None
    places = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    if len(places) > _MOST_DIFFERENT or (a[0] in _STATEMENTS and 0 in places):
        return None
    verbs = 1 + (a[0] in _WITH_VERBS) + (a[0] in _WITH_VERBS and a[1] in _WITH_SECOND_VERBS)
    if a[0] in _PROGRAMS and any(
        i >= verbs
        and (a[i] not in question or _PLACEHOLDER.match(a[i]))
        and not (_FIGURES.search(a[i]) and _FIGURES.search(b[i]))
        for i in places
    ):
        return None  # names that the reference made up
    return " ".join(a[i] for i in places), " ".join(b[i] for i in places)
