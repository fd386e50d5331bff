"use strict";
/* Ranks the sections of `SEARCHED` for some words. Needs no server, and asks nobody. */

// Words that say nothing, and words of stewards for those of the documentation.
const EMPTY = new Set(("a an and are as at be been before by can could do does for from had has have how i if in is it its "
  + "me my no not of on or our should so some than that the their them then there they this to too us was we what when where "
  + "which who why will with without would you your").split(" "));
const ALIKE = {
  computer: "machine", laptop: "machine", pc: "machine", disk: "machine", broke: "crash", broken: "crash", crashed: "crash",
  lost: "restore", stolen: "restore", xlsx: "excel", spreadsheet: "excel", sheet: "excel", workbook: "excel",
  person: "people", patient: "people", case: "people", remove: "withdraw", erase: "withdraw", wrong: "correct", mistake: "correct",
  error: "correct", fix: "correct", late: "late", budget: "epsilon", "ε": "epsilon", privacy: "privacy", noisy: "noise", drowned: "noise", inaccurate: "noise",
  choose: "choose", pick: "choose", many: "much", compare: "compare", setup: "install", explain: "mean", interval: "interval",
  range: "interval", confidence: "interval", link: "link", edge: "link", contact: "link", node: "people", browser: "page", gui: "page",
};
const folded = (word) => {
  let stem = word.replace(/(ies)$/, "y").replace(/(sses|shes|ches|xes)$/, (e) => e.slice(0, -2));
  stem = /[^su]s$/.test(stem) && stem.length > 3 ? stem.slice(0, -1) : stem;
  stem = stem.length > 5 ? stem.replace(/(ing|ed)$/, "") : stem;
  return ALIKE[stem] ?? ALIKE[word] ?? stem;
};
const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}ε]+/gu) ?? []);
const termsOf = (text) => wordsOf(text).filter((each) => !EMPTY.has(each)).map(folded);

// BM25 on each section; words of a heading count more than those of the text.
const WEIGHTS = { page: 3, heading: 5, text: 1 };
const prepared = (entries) => {
  const documents = entries.map((entry) => {
    const counts = new Map();
    for (const [part, weight] of Object.entries(WEIGHTS)) {
      for (const term of termsOf(entry[part])) counts.set(term, (counts.get(term) ?? 0) + weight);
    }
    let size = 0;
    for (const count of counts.values()) size += count;
    return { entry, counts, size };
  });
  const holding = new Map();
  for (const { counts } of documents) for (const term of counts.keys()) holding.set(term, (holding.get(term) ?? 0) + 1);
  const mean = documents.reduce((sum, each) => sum + each.size, 0) / Math.max(documents.length, 1);
  return { documents, holding, mean };
};
const ranked = (asked, { documents, holding, mean }) => {
  const terms = [...new Set(termsOf(asked))];
  const found = [];
  for (const { entry, counts, size } of documents) {
    let score = 0, met = 0;
    for (const term of terms) {
      const count = counts.get(term) ?? 0;
      if (!count) continue;
      met += 1;
      const rare = Math.log(1 + (documents.length - holding.get(term) + 0.5) / (holding.get(term) + 0.5));
      score += rare * count * 2.2 / (count + 1.2 * (0.5 + 0.5 * size / mean));
    }
    const own = termsOf(entry.heading);  // a heading that was asked for word by word
    const exactly = own.length > 1 && own.every((each) => terms.includes(each)) ? 1.5 : 1;
    const later = LATER.test(entry.url) ? 0.5 : 1;
    if (score) found.push({ entry, score: score * exactly * later * met / terms.length });
  }
  return found.sort((one, other) => other.score - one.score).map((each) => each.entry);
};
// Pages for those who build or measure the software come after those for its users.
const LATER = /^(benchmarks|api|architecture|CONTRIBUTING|adding|attacks|audit|findings|growth|SECURITY)/;
const INDEX = prepared(SEARCHED);
const search = (asked) => ranked(asked, INDEX);

const asked = document.getElementById("asked"), answers = document.getElementById("answers");
const around = (text, terms) => {
  const words = text.split(" ");
  const at = Math.max(0, words.findIndex((each) => wordsOf(each).some((word) => terms.has(folded(word)))) - 8);
  return (at ? "… " : "") + words.slice(at, at + 32).join(" ") + (words.length > at + 32 ? " …" : "");
};
const answer = () => {
  const terms = new Set(termsOf(asked.value));
  const found = search(asked.value).slice(0, 12);
  answers.replaceChildren(...found.map((entry) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
    link.href = entry.url;
    link.textContent = entry.heading && entry.heading !== entry.page ? `${entry.page}: ${entry.heading}` : entry.page;
    text.textContent = around(entry.text, terms);
    item.append(link, text);
    return item;
  }));
  if (!found.length && terms.size) answers.textContent = asked.form.dataset.none;
};
if (asked) {
  asked.form.addEventListener("submit", (event) => event.preventDefault());
  asked.addEventListener("input", answer);
  const given = new URLSearchParams(location.search).get("q");
  if (given) { asked.value = given; answer(); }
}
