"""The word lists of the lexical judges, written for this project: facts of English, no data."""

from __future__ import annotations

_FUNCTION = """
a about after also am an and any are as at be because been before being both but by ca can could d
did do does doing done each either for from had has have having he her here hers herself him
himself his i if in into is it its itself just ll m may me might mine must my myself of off on
onto or our ours ourselves over re s shall she should since so some such t than that the their
theirs them themselves then there these they this those though through to too under until up upon
ve very was we were what when where whether which while who whom whose why will with wo would you
your yours yourself
"""

_NEGATION = """
barely cannot hardly n't neither never no nobody none nor not nothing nowhere without
"""

_ABBREVIATION = """
apr aug capt co col corp dec dr feb gen gov inc jan jr jul jun lt ltd mar mr mrs ms nov oct prof
rep sen sep sept sgt sr st vs
"""

_CARDINALS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}

_IRREGULAR = """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent;
bite bit bitten; bleed bled; blow blew blown; break broke broken; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept; deal dealt;
dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven;
eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled;
fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung;
hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led;
lean leant; learn learnt; leave left; lend lent; lose lost; make made; mean meant;
meet met; pay paid; prove proven; ride rode ridden; ring rang rung; rise rose risen; run ran;
say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat;
sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood;
steal stole stolen; stick stuck; strike struck stricken; swear swore sworn; sweep swept;
swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn;
weep wept; win won; withdraw withdrew withdrawn; write wrote written; child children;
man men; woman women; person people persons; foot feet; tooth teeth; mouse mice; wife wives;
life lives; knife knives; half halves; thief thieves; policeman policemen; good better best;
bad worse worst; u.k british britain; usa us american america; percent %; million mn; billion bn
"""

FUNCTION_WORDS = frozenset(_FUNCTION.split())
NEGATIONS = frozenset(_NEGATION.split())
ABBREVIATIONS = frozenset(_ABBREVIATION.split())


def irregular_forms() -> dict[str, str]:
    """Irregular English forms and their base: ``took`` to ``take``, ``children`` to ``child``."""
    groups = (group.split() for group in _IRREGULAR.split(";"))
    return {form: base for base, *forms in groups for form in forms}


def number_words() -> dict[str, str]:
    """Numbers in words and in digits; ``one`` stays a word, for it is rarely a number.

    Example:
        >>> number_words()["twelve"], number_words()["second"]
        ('12', '2nd')
    """
    cardinals = {word: str(value) for value, word in enumerate(_CARDINALS.split()) if value != 1}
    tens = {word: str(30 + 10 * i) for i, word in enumerate(_TENS.split())}
    ordinals = {
        word: f"{value}{_SUFFIXES.get(value, 'th')}"
        for value, word in enumerate(_ORDINALS.split(), start=1)
    }
    return cardinals | tens | ordinals | {"hundred": "100", "thousand": "1000", "twice": "2"}
