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
