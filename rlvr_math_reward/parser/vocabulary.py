"""The English words that the grammar knows by name: what may follow a number as its unit, and what says more than that.

A word that qualifies, negates or hedges is never taken for a unit, so an answer that holds one is not read as a value.
"""

from __future__ import annotations

__all__ = [
    "ADJECTIVES",
    "LEFT_OUT",
    "LONG_NAMES",
    "LY_NOUNS",
    "ORDINALS",
    "PLURALS",
    "QUALIFIERS",
    "SHORT_WORDS",
    "UNITS",
]

QUALIFIERS = frozenset(
    "bn mn mil score ppm ppb mille less larger smaller bigger not no non never neither nor none wrong incorrect "
    "false invalid maybe perhaps possibly probably likely either or and if when unless where otherwise but except "
    "excluding excluded without is isnt are arent was were be been equals equal than least most about around "
    "approximately approx roughly nearly almost over under above below between from to through until plus minus "
    "squared cubed factorial doubled halved tripled hundred hundreds thousand thousands million millions billion "
    "billions trillion trillions dozen dozens lakh lakhs crore crores gross half halves third thirds fourth "
    "fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths hundredth "
    "hundredths thousandth thousandths quarter percent permille negative positive point so only unsure guess any "
    "some choose mod modulo odd even prime prove proof answer gold correct right true yes nope think believe hope "
    "hopefully could would should might may can cannot it this that which because since then else lambda return "
    "import yield print too high low off by ish fake rejected fails failed estimated estimate whatever "
    "alternatively etc cetera assuming hex hexadecimal octal binary extraneous however though instead rather wait "
    "actually sorry error undefined infinite infinity impossible untrue unlikely doubt doubts doubtful dubious "
    "disputed absurd nonsense contradiction contradictions discarded removed retracted invalidated revised itself "
    "itselves guesses guessed guessing circa unknown undetermined uncertain unverified unproven unproved idk "
    "dunno something nothing anything null nan na todo tbd tba contradictory indeterminate corrected placeholder "
    "both xor versus vs iff provided whenever alternative alternatives twice thrice double doubles triple triples "
    "tens always sometimes".split()
)
"""Words that qualify, negate or scale the number before them: none is a unit or a counted noun."""
LONG_NAMES = {
    "m": "meter", "g": "gram", "s": "second", "l": "liter", "L": "liter", "h": "hour", "N": "newton", "J": "joule",
    "W": "watt", "V": "volt", "K": "kelvin", "d": "day",
}  # fmt: skip
ADJECTIVES = frozenset("odd even prime positive negative right correct third fourth fifth".split())
"""Words of these that describe what is counted where a noun follows: "3 odd numbers", but "3 odd" says more."""
UNITS = frozenset(
    "gb mb kb tb byte bytes mm cm dm km m in inch inches ft foot feet yd yard yards mi mile miles mph kph kmh mg "
    "g gm kg lb lbs pound pounds oz ounce ounces ton tons ml cl dl l liter liters litre litres gal gallon gallons "
    "s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks month months year "
    "years deg degree degrees rad radian radians usd eur dollar dollars cent cents euro euros unit units sq cu "
    "square cubic n newton newtons j joule joules kj w watt watts kw v volt volts hz khz pa kpa mpa gpa psi atm "
    "mol k cal kcal ev kev mev kwh mwh wh kn mn ohm ohms farad tesla db rpm mpg fps hp acre acres cup cups am pm "
    "meter meters metre metres centimeter centimeters kilometer kilometers millimeter millimeters gram grams "
    "kilogram kilograms pint pints quart quarts tbsp tsp tablespoon tablespoons teaspoon teaspoons hectare "
    "hectares kilowatt kilowatts mhz ghz carat carats decade decades century centuries".split()
)
PLURALS = frozenset(
    "people children grandchildren men women firemen policemen salmon aircraft radii foci nuclei feet teeth mice "
    "geese oxen sheep fish deer dice data vertices indices matrices yen yuan won baht rand rubles krona crore "
    "alumni cattle offspring personnel staff bacteria criteria".split()
)
"""Plurals without an s, and currencies that have no other."""
LEFT_OUT = frozenset((
    *UNITS, *PLURALS, *LONG_NAMES.values(),
    *(
        "th rupee knot bar celsius fahrenheit percentage penny yen each apiece total altogether all left more "
        "fewer extra remaining away apart old high tall long wide deep".split()
    ),
))  # fmt: skip
"""Words of which one must stand behind a number, or a plural, so that a gold without a unit is answered by it."""
LY_NOUNS = frozenset("family fly butterfly supply assembly jelly lily belly ally july ply rally monopoly".split())
"""Nouns that end like an adverb."""
SHORT_WORDS = frozenset("of in is as at by on no so if to up we it be an or my he me us do go am ok ha oh hi".split())
ORDINALS = frozenset(("st", "nd", "rd", "th"))
