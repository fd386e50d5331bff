"""What a privacy statement must say, item by item: who asks for it, and where it is answered.

NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees (March 2025), is cited by
the parts of its pyramid. What OpenDP's registry of deployments asks for is filled from the card
(`graphveil.report.card`).
"""

from __future__ import annotations

from dataclasses import dataclass

PROMISE, PARAMETERS, UNIT = "the promise", "privacy parameters", "unit of privacy"
ALGORITHMS, UTILITY, BIAS = "algorithms", "utility", "bias"
QUERIES, TRUST, CORRECT = "query model", "trust model", "correct implementation"
SECURITY, COLLECTION = "security and access control", "data collection"


@dataclass(frozen=True)
class Item:
    """Something that has to be stated.

    Attributes:
        asked: what.
        nist: the part of SP 800-226 that asks for it; empty if none does.
        card: where the card answers it.
        page: the heading on the page under which the same is said.
        told: how the page words it, with the card's value in the braces.
    """

    asked: str
    nist: str
    card: str
    page: str
    told: str = "{}"


ITEMS = (
    Item("what is published, and by whom", "", "deployment.title", ""),
    Item("who answers for it", TRUST, "deployment.publisher", ""),
    Item("whose records", COLLECTION, "deployment.population", ""),
    Item("what kind of thing", "", "deployment.kind", "How to read the numbers"),
    Item("what it is for", UTILITY, "deployment.intended_use", "How to read the numbers"),
    Item("when it was begun", "", "deployment.opened_at", "footer"),
    Item("what is promised, with a number", PROMISE, "guarantee.meaning", "What is promised"),
    Item("unit of privacy", UNIT, "unit_of_privacy.unit", "What is promised"),
    Item("neighbours in words", UNIT, "unit_of_privacy.neighbours", "What is promised"),
    Item("neighbours exactly", UNIT, "unit_of_privacy.neighbours_formally", "What is promised"),
    Item("variant", PARAMETERS, "guarantee.variant", "What is promised"),
    Item("ε of the whole study", PARAMETERS, "guarantee.epsilon", "What is promised", "ε = {}"),
    Item("δ", PARAMETERS, "guarantee.delta", "What is promised", "δ = {}"),
    Item("ε and δ of each series", PARAMETERS, "series.*.epsilon", "Budget"),
    Item("what ε means", PARAMETERS, "guarantee.certainty", "What that means in numbers"),
    Item("what the promise rests on", PROMISE, "unit_of_privacy.assumption", "What it rests on"),
    Item("what is not protected", PROMISE, "not_protected.*.value", "What is not protected"),
    Item(
        "what the promise does not say, groups and other releases included",
        PROMISE,
        "guarantee.limits.*",
        "What the promise does not say",
    ),
    Item("trust model", TRUST, "setting.model", "How it is done"),
    Item("who is trusted with what", TRUST, "trust.*.with", "Who is trusted with what"),
    Item("one release or many", QUERIES, "setting.releases", "How it is done"),
    Item("static or dynamic data", QUERIES, "setting.data", "How it is done"),
    Item("interactive or not", QUERIES, "setting.access", "How it is done"),
    Item("composition", PARAMETERS, "composition.*", "Budget"),
    Item("what is spent and left", PARAMETERS, "budget.*.epsilon", "Budget"),
    Item("post-processing, and its bias", BIAS, "post_processing.statement", "How it is done"),
    Item(
        "preparation of records, and tuning",
        COLLECTION,
        "implementation.before_counting",
        "How it is done",
    ),
    Item("mechanism of each series", ALGORITHMS, "series.*.mechanism_summary", "Results"),
    Item(
        "sensitivity of each series, and its proof",
        ALGORITHMS,
        "series.*.sensitivity.proof",
        "Results",
    ),
    Item("how large the noise is", UTILITY, "series.*.noise.*.law", "Results"),
    Item("software and versions", CORRECT, "implementation.software.*", "How it is done"),
    Item("randomness", CORRECT, "implementation.randomness", "How it is done"),
    Item("floating point", CORRECT, "implementation.floating_point", "How it is done"),
    Item("timing", CORRECT, "implementation.timing", "How it is done"),
    Item("failures and retries", CORRECT, "implementation.failures", "How it is done"),
    Item("security", SECURITY, "implementation.security", "How it is done"),
    Item("why this ε", PARAMETERS, "choices.epsilon", "Why these choices"),
    Item("why this bound", UNIT, "choices.degree_bound.justification", "Why these choices"),
    Item(
        "why these statistics and parameters",
        UTILITY,
        "choices.series.*.justification",
        "Why these choices",
    ),
    Item("how it can be checked", "", "ledger.head", "Check it yourself"),
)
