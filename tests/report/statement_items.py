"""What a privacy statement must say, item by item: who asks for it, and where it is answered.

NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees (March 2025), is cited by
the parts of its pyramid; the Differential Privacy Deployments Registry of OpenDP by the fields of
its entries (registry.opendp.org, third tier). docs/report.md shows the fields.
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
        registry: the fields of the registry that it answers.
        card: where the card answers it.
        page: the heading on the page under which the same is said.
        told: how the page words it, with the card's value in the braces.
    """

    asked: str
    nist: str
    registry: tuple[str, ...]
    card: str
    page: str
    told: str = "{}"


ITEMS = (
    Item("what is published, and by whom", "", ("product.name",), "deployment.title", ""),
    Item("who answers for it", TRUST, ("product.data_curators",), "deployment.publisher", ""),
    Item("whose records", COLLECTION, ("product.description", "product.data_product_region",
         "dp_flavor.data_domain"), "deployment.population", ""),
    Item("what kind of thing", "", ("product.data_product_type",), "deployment.kind",
         "How to read the numbers"),
    Item("what it is for", UTILITY, ("product.intended_use",), "deployment.intended_use",
         "How to read the numbers"),
    Item("when it was begun", "", ("product.publication_date",), "deployment.opened_at", "footer"),
    Item("what is promised, with a number", PROMISE, (), "guarantee.meaning", "What is promised"),
    Item("unit of privacy", UNIT, ("privacy_loss.privacy_unit",), "unit_of_privacy.unit",
         "What is promised"),
    Item("neighbours in words", UNIT, ("privacy_loss.privacy_unit_description",),
         "unit_of_privacy.neighbours", "What is promised"),
    Item("neighbours exactly", UNIT, ("dp_flavor.input_metric",
         "dp_flavor.bound_on_input_distance"), "unit_of_privacy.neighbours_formally",
         "What is promised"),
    Item("variant", PARAMETERS, ("dp_flavor.name", "dp_flavor.output_measure"),
         "guarantee.variant", "What is promised"),
    Item("ε of the whole study", PARAMETERS, ("privacy_loss.privacy_parameters",
         "dp_flavor.bound_on_output_distance"), "guarantee.epsilon", "What is promised", "ε = {}"),
    Item("δ", PARAMETERS, ("privacy_loss.privacy_parameters",), "guarantee.delta",
         "What is promised", "δ = {}"),
    Item("ε and δ of each series", PARAMETERS, ("privacy_loss.privacy_parameters_description",),
         "series.*.epsilon", "Budget"),
    Item("what ε means", PARAMETERS, (), "guarantee.certainty", "What that means in numbers"),
    Item("what the promise rests on", PROMISE, (), "unit_of_privacy.assumption",
         "What it rests on"),
    Item("what is not protected", PROMISE, ("dp_flavor.unprotected_quantities",),
         "not_protected.*.value", "What is not protected"),
    Item("what the promise does not say, groups and other releases included", PROMISE, (),
         "guarantee.limits.*", "What the promise does not say"),
    Item("trust model", TRUST, ("model.model_name",), "setting.model", "How it is done"),
    Item("who is trusted with what", TRUST, ("model.actors",), "trust.*.with",
         "Who is trusted with what"),
    Item("one release or many", QUERIES, ("model.release_type",), "setting.releases",
         "How it is done"),
    Item("static or dynamic data", QUERIES, ("model.data_source_type",), "setting.data",
         "How it is done"),
    Item("interactive or not", QUERIES, ("model.access_type",), "setting.access",
         "How it is done"),
    Item("composition", PARAMETERS, ("accounting.composition",), "composition.*", "Budget"),
    Item("what is spent and left", PARAMETERS, (), "budget.*.epsilon", "Budget"),
    Item("post-processing, and its bias", BIAS, ("accounting.post_processing",),
         "post_processing.statement", "How it is done"),
    Item("preparation of records, and tuning", COLLECTION,
         ("implementation.pre_processing_eda_hyperparameter_tuning",),
         "implementation.before_counting", "How it is done"),
    Item("mechanism of each series", ALGORITHMS, ("implementation.mechanisms",),
         "series.*.mechanism_summary", "Results"),
    Item("sensitivity of each series, and its proof", ALGORITHMS, (),
         "series.*.sensitivity.proof", "Results"),
    Item("how large the noise is", UTILITY, (), "series.*.noise.*.law", "Results"),
    Item("software and versions", CORRECT, ("implementation.mechanisms",),
         "implementation.software.*", "How it is done"),
    Item("randomness", CORRECT, ("implementation.mechanisms",), "implementation.randomness",
         "How it is done"),
    Item("floating point", CORRECT, (), "implementation.floating_point", "How it is done"),
    Item("timing", CORRECT, (), "implementation.timing", "How it is done"),
    Item("failures and retries", CORRECT, (), "implementation.failures", "How it is done"),
    Item("security", SECURITY, ("implementation.mechanisms",), "implementation.security",
         "How it is done"),
    Item("why this ε", PARAMETERS, ("implementation.justification",), "choices.epsilon",
         "Why these choices"),
    Item("why this bound", UNIT, ("implementation.justification",),
         "choices.degree_bound.justification", "Why these choices"),
    Item("why these statistics and parameters", UTILITY, ("implementation.justification",),
         "choices.series.*.justification", "Why these choices"),
    Item("how it can be checked", "", ("resources.sources",), "ledger.head", "Check it yourself"),
)  # fmt: skip

# Every field of an entry of the registry, and why some are left to whoever files one.
FIELDS = tuple(sorted({field for item in ITEMS for field in item.registry}))
LEFT_TO_THE_PUBLISHER = {
    "product.data_product_sector": "a study does not ask for it",
    "resources.registry_authors": "they are the authors of the entry, not of the study",
}
