"use strict";
/* Small helpers. Everything works without them; they spare loading and typing. */

// Progress: ask how far the work is, and go on when it is done.
for (const card of document.querySelectorAll("[data-progress]")) {
  const doing = card.querySelector("[data-doing]"), bar = card.querySelector("progress");
  const ask = async () => {
    try {
      const answer = await fetch(card.dataset.progress, { cache: "no-store" });
      const now = await answer.json();
      if (!now.running) { location.reload(); return; }
      if (now.doing && doing.textContent !== now.doing + " …") doing.textContent = now.doing + " …";
      if (now.steps > 1) { bar.max = now.steps; bar.value = now.done; }
    } catch { doing.textContent = "The server does not answer. Is it still running?"; }
    setTimeout(ask, 500);
  };
  setTimeout(ask, 300);
}

// A form is sent once: a second click would only be told that it is late.
for (const form of document.querySelectorAll("form:not([data-live])")) {
  form.addEventListener("submit", () => {
    setTimeout(() => { for (const each of form.querySelectorAll("button")) each.disabled = true; });
  });
}
addEventListener("pageshow", () => {
  for (const each of document.querySelectorAll("button:disabled")) each.disabled = false;
});

// Sliders: each moves the field above it, and the predicted noise with it.
const stepsOf = (said) => {
  if (!said.includes(":")) return said.split(" ");
  const [low, high] = said.split(":").map(Number);
  return Array.from({ length: high - low + 1 }, (_, n) => String(low + n));
};
for (const field of document.querySelectorAll("[data-slider]")) {
  const steps = stepsOf(field.dataset.slider), slider = document.createElement("input");
  const label = document.querySelector(`label[for="${field.id}"]`).textContent;
  Object.assign(slider, { type: "range", min: 0, max: steps.length - 1, step: 1 });
  slider.id = `${field.id}-slider`;
  slider.setAttribute("aria-label", `${label}, by a slider`);
  const follow = () => {
    const at = steps.findIndex((each) => Number(each) >= Number(field.value));
    slider.value = field.value.trim() === "" ? 0 : at < 0 ? steps.length - 1 : at;
    slider.setAttribute("aria-valuetext", field.value || "not said");
  };
  slider.addEventListener("input", () => {
    field.value = steps[slider.value];
    slider.setAttribute("aria-valuetext", field.value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("change", follow);
  follow();
  field.after(slider);
}

// Predictions follow what is typed; an answer that comes too late is not shown.
for (const form of document.querySelectorAll("form[data-live]")) {
  const shown = form.querySelector("[data-outlook]");
  let asked = null, timer = 0;
  const ask = async () => {
    asked?.abort();
    const mine = asked = new AbortController();
    shown.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.live, {
        method: "POST", body: new URLSearchParams(new FormData(form)), signal: mine.signal,
      });
      if (answer.ok) shown.innerHTML = await answer.text();
    } catch { /* a newer question was asked, or the server is gone: the button still works */ }
    if (mine === asked) shown.removeAttribute("aria-busy");
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 40); });
}

// Lines to copy: a button beside each.
for (const each of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(each.querySelector("code").textContent); button.textContent = "Copied"; }
    catch { button.textContent = "Select it"; }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  each.append(button);
}
// A table that is wider than its place says so.
for (const each of document.querySelectorAll(".scroll")) {
  if (each.scrollWidth > each.clientWidth + 1 && !each.nextElementSibling?.matches(".sideways")) {
    const hint = document.createElement("p");
    Object.assign(hint, { className: "hint sideways", textContent: "The table goes on: scroll it sideways." });
    each.after(hint);
  }
}
