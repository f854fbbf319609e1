"""Telling a sentence from a word, a name or a phrase: by its verb and its small words."""

from __future__ import annotations

import re
from functools import lru_cache

# --- Small closed classes of English words that the rules for statements go by --------------------


_MARKS = ",;:?!\"'()“”‘’"


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


DETERMINERS = words(
    "a an the this that these those my your his her its our their every each all both some "
    "any no one two three four five six seven eight nine ten another several"
)
NUMBERS = words("one two three four five six seven eight nine ten")
PREPOSITIONS = words(
    "of in on at to from for with by about into over after before under between during "
    "against within without upon around near as than like through across behind beyond inside "
    "outside since until till along toward towards among per via off onto above below beneath "
    "beside"
)

PARTICLES = words("out up down off away back over together apart on in around ever through")
PRONOUNS = words("i you we he she it they there people someone")
BE = words("is are was were be 's")
HAVE = words("has have had")
DO = words("do does did")
MODALS = words("can could will would shall should may might must")
AUXILIARIES = BE | HAVE | DO | MODALS


SUBORDINATORS = words(
    "who whom which that whose where when while because if although though since until unless "
    "before after as than whether what how why"
)
FUNCTION = DETERMINERS | PREPOSITIONS | PRONOUNS | words(
    "approximately about around roughly almost nearly over more less up early late mid "
    "because when if so later since now today currently never not"
)  # fmt: skip
"""Words that lose their capital inside a sentence."""


@lru_cache(maxsize=100_000)
def lowered(word: str) -> str:
    """A word as the lists have it: lower case, without marks around it."""
    bare = word.lower().strip(_MARKS)
    if bare.endswith(".") and bare.count(".") == 1:
        bare = bare[:-1].rstrip(_MARKS)
    return bare or word


# --- Forms of English verbs, as far as turning questions into statements needs them ---------------


_IRREGULAR_LINES = """
arise arose arisen|awake awoke awoken|be was been|bear bore born|beat beat beaten
become became become|begin began begun|bend bent bent|bet bet bet|bind bound bound
bite bit bitten|bleed bled bled|blow blew blown|break broke broken|breed bred bred
bring brought brought|build built built|burst burst burst|buy bought bought|cast cast cast
catch caught caught|choose chose chosen|cling clung clung|come came come|cost cost cost
creep crept crept|cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt
fight fought fought|find found found|fit fit fit|flee fled fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grind ground ground|grow grew grown|hang hung hung
have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt
keep kept kept|know knew known|lay laid laid|lead led led|leave left left|lend lent lent
light lit lit|let let let|lie lay lain|lose lost lost|make made made|mean meant meant|meet met met
overcome overcame overcome|overthrow overthrew overthrown|pay paid paid|put put put
quit quit quit|read read read|rebuild rebuilt rebuilt|ride rode ridden|ring rang rung
rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold
send sent sent|set set set|shake shook shaken|shed shed shed|shine shone shone|shoot shot shot
show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|speak spoke spoken|spend spent spent|spin spun spun
split split split|spread spread spread|spring sprang sprung|stand stood stood
steal stole stolen|stick stuck stuck|strike struck struck|strive strove striven
swear swore sworn|sweep swept swept|swim swam swum|swing swung swung|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown
undergo underwent undergone|understand understood understood|undertake undertook undertaken
upset upset upset|wake woke woken|wear wore worn|weave wove woven|win won won|wind wound wound
withdraw withdrew withdrawn|write wrote written
"""

_REGULAR = """
abandon abolish absorb accept achieve acquire act adapt add address admit adopt advance
advise affect age agree aim air allow amend announce annex answer apologise apologize appear
apply appoint approve argue arrest arrive ask assassinate assemble associate attach attack
attain attempt attend attract award ban base believe belong benefit betray bifurcate boil
border borrow breathe broadcast burn bury call campaign cancel capture care carry cause celebrate
change charge chart chase claim classify climb close coach coin collapse collect colonise
colonize combine commission commit compete compose compare complete conduct conclude connect
conquer consider consist consume contain contribute control convert cook cool correspond
cover crash create cross crown cure dance date declare decide decline defeat defend define
deliver demand deny depend deploy describe design destroy determine develop die differ
digest direct disappear discover discuss dissolve divide divorce dominate double draft drop
earn edit elect eliminate emerge emigrate emit emphasise emphasize condense arrive employ
enable enact encounter end enforce engage enjoy enlist ensure enter erupt escape establish
evolve examine exchange execute exist expand expect expel experience expire explain explode
explore export express extend face fade fail favor favour feature film finance finish fire
fix flow focus follow force form found function fund gain gather generate govern graduate
grant guarantee guard guest handle happen hate head help hire honor honour host house hunt
identify ignite imagine immigrate impeach implement import improve include increase
influence inherit initiate inspire install introduce invade invent invest involve issue join
judge jump kick kidnap kill kiss know label lack land last launch learn legalise legalize
lie lift like limit link list live locate look love maintain manage manufacture march mark
marry match matter measure mention merge migrate mine mix move murder name need negotiate
nominate note notice observe obtain occupy occur offer open operate oppose order organise
organize originate owe own paint park participate pass perform permit pick place plan plant
play portray possess post pour practice practise predict prefer premiere prepare present
preserve preside prevent print process produce prohibit promise promote propose protect
prove provide publish pull purchase push qualify race raise rank ratify reach realise
realize rebel receive recite recognise recognize recommend record recover reduce refer
reflect refuse regain regulate reign reinstate reject relate release rely remain remarry
remember remove rename repeal replace report represent require rescue research reside resign
resist resolve respond result retain retire return reunite reveal reverse revolt reward rise
rival rob rule sack sail save score secede secure seem select separate serve settle share
shape shift ship sign signal skip slay smoke solve sound specialise specialize sponsor spell
stage star start starve state stay step stop store stretch study submit succeed suffer
suggest suit supply support suppose surface surrender survive suspect sustain switch
symbolise symbolize talk target taste tax tend terminate test tie touch tour trade train
transfer transform translate transmit transport travel treat trigger try turn unify unite
use vanish vary visit voice vote wait walk want warn wash waste watch weigh welcome widen
wish witness work worship worry yield abbreviate accompany accumulate activate adjust
administer anchor appeal arrange assist assume authorise authorize awaken balance bat batter
bless block bloom bounce bowl calculate cease censor chair challenge circulate cite clear
collide comprise conceive confirm consecrate construct contest continue cooperate coordinate
crack crawl dedicate delay demolish derive descend devise disband discontinue dismiss
display distribute drain drown dwell ease enclose encourage endorse entitle equal estimate
evacuate evaluate exceed exclude exercise exploit extract feud flood float flourish fold
fuse harvest heal heat hop hope host illustrate impose incorporate inhabit inject insert
integrate intend interact interpret invite kneel knock lecture license lobby lock lower melt
modify mount narrate nationalise nationalize neighbour neighbor outlaw overlook overturn
perish persuade phase pilot plead point praise preach precede proclaim pronounce prosecute
publicise pump punish pursue quote rain reappear rebuild recall recruit reform relocate
remind rent repair request reserve restore restrict retreat reunify ripen roll rotate rush
scream search seat secrete seize sentence shave shelter shout skate slow snow span spark
speed spray stabilise stem stimulate strengthen stress strike structure subdivide succumb
sue summarise supervise suppress surpass surround swallow tackle tap tour track trap triumph
type undo update uphold utilise utilize scatter bend convince inform detect absorb reflect
validate venture view violate wander weaken wed whisper withstand wrap wreck
"""

_NOUNISH = words("""
act address age aim air answer attack award ban base border bowl broadcast call care cast
cause change charge claim coach coin control cost cover crash crown cure cut dance date deal
design dig display draft draw drink drive drop end exchange experience export express face
fall favor favour feature fight film finance fire fit fix flood flow focus force form
function fund gain grant ground guard guest head heat help hit hold honor honour hope host
house hunt import increase influence interest issue join judge jump kick kiss label lack
land last lead lie lift light like limit link list live lobby lock look lost love march mark
match matter mean measure mention mine mix mount move murder name need note notice offer
open order own paint park pass pay permit pick pilot place plan plant play point post
practice present print process promise pump purchase push race rain rank read record reform
release report request research rest result return reward ride ring rise rival roll rule run
sack sail sea score search seat sentence set shape share shelter shift ship shoot show shut
sign signal skate sleep slide snow sound span speed spell spin split spring stage stand star
start state stay stem step stick stop store stress strike structure study suit supply
support surface swallow swim swing switch tackle talk tap target taste tax test tie touch
tour track trade train transfer transport trap travel treat triumph trigger try turn type
use value venture view visit voice vote wait wake walk wash waste watch wear welcome wind
wish witness work worship wreck yield
""")

_DOUBLED = words("""
ban bat chop commit drop expel hop kidnap knit occur omit permit plan refer rob ship skip span star
stem step stop submit tap transmit transfer trap rebel admit wed wrap drag regret program prefer
excel patrol control
""")

PAST: dict[str, str] = {}
PARTICIPLE: dict[str, str] = {}
for _entry in _IRREGULAR_LINES.replace("\n", "|").strip("|").split("|"):
    _base, _past, _participle = _entry.split()
    PAST[_base], PARTICIPLE[_base] = _past, _participle
PAST["broadcast"] = PARTICIPLE["broadcast"] = "broadcast"

BASES = frozenset(PAST) | frozenset(_REGULAR.split())
"""Base forms that are known to be verbs."""


def past(base: str) -> str:
    """The simple past of a verb.

    >>> [past(verb) for verb in ("die", "win", "carry", "stop", "release", "play")]
    ['died', 'won', 'carried', 'stopped', 'released', 'played']
    """
    if base in PAST:
        return PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


def third(base: str) -> str:
    """The third person singular of the present.

    >>> [third(verb) for verb in ("go", "have", "carry", "pass", "play")]
    ['goes', 'has', 'carries', 'passes', 'plays']
    """
    if base in ("have", "be"):
        return {"have": "has", "be": "is"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


PASTS = frozenset(past(base) for base in BASES)
THIRDS = {third(base): base for base in sorted(BASES)}
"""Third persons of the present with their base forms."""

PARTICIPLES = frozenset(PARTICIPLE.values()) | frozenset(
    past(base) for base in BASES if base not in PAST
)

_NOT_ED = words(
    "united hundred sacred wicked naked indeed breed speed bleed exceed proceed succeed seed "
    "weed feed need reed creed greed red bed shed sled ted fred ned alfred mohammed ahmed "
    "jared manfred limited aged so-called"
)
_NOT_ING = words(
    "king ring thing spring string wing sing bring morning evening during beijing nothing "
    "something anything everything wedding ceiling viking boeing sterling darling duckling "
    "sibling ming ding sting swing sling cling building being wellbeing pudding stocking "
    "earring outing inning housing clothing feeling meaning painting opening ending beginning"
)


def strength(word: str) -> int:
    """How surely a word is a verb in its base form: 2, 1 if it is often a noun, 0 if unknown."""
    if word not in BASES:
        return 0
    return 1 if word in _NOUNISH else 2


def is_participle(word: str) -> bool:
    """Whether a word may be a past or present participle."""
    if word in PARTICIPLES:
        return word not in _NOT_ED
    if word.endswith("ed") and len(word) > 4:
        return word not in _NOT_ED
    return word.endswith("ing") and len(word) > 5 and word not in _NOT_ING


def is_past(word: str) -> bool:
    """Whether a word looks like a regular past, known or not."""
    return word.endswith("ed") and len(word) > 4 and word not in _NOT_ED


# --- Telling a sentence from a word, a name or a phrase -------------------------------------------


INNER_END = re.compile(r"[a-z0-9%\"'”’)\]]{3}[.!?][\"'”’)\]]*\s+[\"'“(]?[A-Z]")
"""Where one sentence of an answer ends and another begins."""
_FINITE = words(
    "is are was were has had does did can cannot could will would may might should must isn't "
    "aren't wasn't weren't hasn't don't doesn't didn't can't couldn't won't wouldn't i'm it's he's "
    "she's that's there's they're"
)
_ALSO_PREPOSITIONS = words("as than before after since until")
_MANY = words("these those some many most others all both people men women")
_NO_VERB_AFTER = (DETERMINERS | PREPOSITIONS | AUXILIARIES) - _MANY
_READ = 80
"""Words of an answer among which its verb is looked for."""
_OTHER_FINITE = words("have do")


def is_sentence(answer: str) -> bool:
    """Whether an answer is a sentence of its own rather than a word, a name or a phrase.

    It is where a finite verb occurs outside relative clauses and it is no title in capitals.

    >>> is_sentence("Paris, which is in France."), is_sentence("The one who won is Ali.")
    (False, True)
    """
    words = answer.split()[:_READ]
    if len(words) < 3:
        return False
    ended = answer.rstrip("\"'”’)]").endswith((".", "!", "?"))
    if INNER_END.search(answer):
        return len(words) > 6 or any(lowered(word) in _FINITE for word in words)
    if not ended and is_title(words):
        return False
    low = [lowered(word.replace("’", "'")) for word in words]
    if not ended and (low[0] in PREPOSITIONS or low[0] == "because"):
        return False
    waiting = int(
        low[0] in SUBORDINATORS and (low[0] not in _ALSO_PREPOSITIONS or low[1] in PRONOUNS)
    )
    for place in range(1, len(low)):
        if words[place - 1].endswith((",", ";", ":")):
            waiting = 0
        if _subordinates(words, low, place):
            waiting += 1
        elif _is_verb(words, low, place, ended):
            if not waiting:
                return True
            waiting -= 1
    return False


def _subordinates(words: list[str], low: list[str], place: int) -> bool:
    """Whether a clause with a verb of its own begins there."""
    word = low[place]
    if word not in SUBORDINATORS or not words[place][:1].islower():
        return False
    after = low[place + 1] if place + 1 < len(low) else ""
    return word not in _ALSO_PREPOSITIONS or after in PRONOUNS


def _is_verb(words: list[str], low: list[str], place: int, ended: bool) -> bool:
    """Whether the word there is a finite verb, and no participle or plural noun."""
    word, before = low[place], low[place - 1]
    after = low[place + 1] if place + 1 < len(low) else ""
    if word in _FINITE or (word in _OTHER_FINITE and after):
        return word != "may" or strength(after) > 0 or after in ("be", "have", "not")
    if words[place][:1].isupper():
        return False
    if before in SUBORDINATORS and before not in _ALSO_PREPOSITIONS:
        plain = before in ("who", "which", "that") and word not in FUNCTION
        return plain or word in PASTS or word in THIRDS or strength(word) > 0
    if before in _NO_VERB_AFTER:
        return False
    if before in PRONOUNS and (word in PASTS or word in THIRDS or strength(word)):
        return True
    opens = after in DETERMINERS or after in PREPOSITIONS or after in PARTICLES
    opens = opens or (after != "" and not words[place + 1][:1].islower())
    if word in PASTS or (ended and is_past(word)):
        aside = words[place - 1].endswith(",") and sum("," in one for one in words[:place]) < 2
        if after == "by" or aside or words[place - 1].endswith("("):
            return False
        return after in DETERMINERS or ended
    if word in THIRDS:
        sure = strength(THIRDS[word]) == 2
        if sure or not ended:
            return sure and after not in ("", "and", "or")
        return after != "of" and (opens or after.endswith("ly"))
    several = before.endswith("s") or before in _MANY or "and" in low[1:place]
    return ended and several and opens and after != "of" and strength(word) > 0


def is_title(words: list[str]) -> bool:
    """Whether three in four of the longer words are capitalised, and it is under ten words."""
    long = [word for word in words if len(word) > 3 and word[:1].isalpha()]
    return (
        0 < len(words) < 10
        and bool(long)
        and sum(word[:1].isupper() for word in long) >= 0.75 * len(long)
    )
