// Keys, focus, and labels that outlive a lost connection. All pages work without this file.
"use strict";
(() => {
  const GUARD_MS = 250; // A key pressed twice by accident must not answer the next item too.
  const SLOWEST_RETRY_MS = 15000;
  const prefix = `markscheme-unsent:${document.body.dataset.owner}:`;
  const unsent = new Map(); // submission -> fields; also in localStorage, so that a reload keeps it
  let busy = false;
  let readyAt = 0;
  let tries = 0;
  let timer = 0;
  let stored = true;

  const work = () => document.getElementById("work");
  const status = document.getElementById("status");

  function say(text, state) {
    if (status.textContent !== text) status.textContent = text;
    document.body.dataset.state = state || "";
  }

  // --- labels that are not saved yet ------------------------------------------------------------

  function keep(fields) {
    unsent.set(fields.submission, fields);
    try {
      localStorage.setItem(prefix + fields.submission, JSON.stringify(fields));
    } catch {
      stored = false; // Private windows may forbid it; then the page itself must stay open.
    }
  }

  function forget(submission) {
    unsent.delete(submission);
    try {
      localStorage.removeItem(prefix + submission);
    } catch {
      stored = false;
    }
  }

  function remembered() {
    try {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith(prefix)) {
          const fields = JSON.parse(localStorage.getItem(key));
          unsent.set(fields.submission, fields);
        }
      }
    } catch {
      stored = false;
    }
  }

  function sendAgain() {
    clearTimeout(timer);
    const [fields] = unsent.values();
    if (!fields || !work()) return;
    busy = true;
    say("Not saved yet. Sending again …", "retrying");
    htmx.ajax("POST", "/label", {
      source: "#work",
      target: "#work",
      swap: "outerHTML",
      values: { ...fields, csrf: document.body.dataset.csrf },
    });
  }

  function retryLater(why) {
    busy = true;
    const wait = Math.min(SLOWEST_RETRY_MS, 1000 * 2 ** tries);
    tries += 1;
    const where = stored ? "It is kept in this browser" : "Keep this page open";
    say(`Not saved yet: ${why}. ${where}; trying again in ${Math.round(wait / 1000)} s.`, "unsaved");
    clearTimeout(timer);
    timer = setTimeout(sendAgain, wait);
  }

  // --- what htmx reports ----------------------------------------------------------------------------

  const isLabel = (detail) => detail.requestConfig?.path === "/label";

  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.path === "/label" && event.detail.verb === "post") {
      keep(Object.fromEntries(event.detail.formData.entries()));
      busy = true;
      if (!tries) say("Saving …", "saving");
    } else if (event.detail.verb === "post") {
      busy = true;
    }
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 409) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    const code = event.detail.xhr?.status ?? 0;
    if (!isLabel(event.detail)) {
      if (event.detail.requestConfig?.verb === "post") {
        busy = false;
        if (code !== 200) say("That did not work. Try again.", "unsaved");
      }
      return;
    }
    const submission = event.detail.requestConfig.formData.get("submission");
    if (code === 200 || code === 409) {
      forget(submission);
      tries = 0;
      if (unsent.size) sendAgain();
      else settle();
    } else if (code === 401 || code === 403) {
      say("Not saved: you are signed out. Open your personal link again; your choice is kept here.",
        "unsaved");
    } else if (code === 404 || code === 413 || code === 415 || code === 422) {
      forget(submission);
      busy = false;
      say("The server refused this choice. Reload the page and choose again.", "unsaved");
    } else {
      retryLater(code ? `the server is busy (${code})` : "no connection");
    }
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "work" || event.detail.elt?.id === "work") ready();
  });

  addEventListener("online", () => unsent.size && sendAgain());
  addEventListener("beforeunload", (event) => {
    if (unsent.size && !stored) event.preventDefault();
  });

  // A click while a label is on its way would answer an item that is already answered.
  document.addEventListener("submit", (event) => {
    if (busy && event.target.closest("#work")) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  function settle() {
    busy = false;
    say(work()?.dataset.say ?? "", "");
  }

  function ready() {
    const area = work();
    if (!area) return;
    readyAt = performance.now() + GUARD_MS;
    if (!unsent.size) settle();
    area.querySelector(".focus-first")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  // --- keys -------------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const on = event.target;
    if (on.closest("textarea, input, select")) {
      if (event.key === "Escape") work()?.querySelector(".focus-first")?.focus();
      return;
    }
    if ((event.key === " " || event.key === "Enter") && on.closest("button, a, summary")) return;
    if (event.key === "Backspace" && unplaceLast()) {
      event.preventDefault();
      return;
    }
    const wanted = [...document.querySelectorAll("[data-key]")].find(
      (each) => each.dataset.key === event.key,
    );
    if (!wanted || wanted.disabled) return;
    event.preventDefault();
    if (event.repeat) return;
    if (wanted.matches("textarea")) {
      openNote();
    } else if (wanted.matches("summary, [data-dialog]")) {
      wanted.click();
    } else if (!busy && performance.now() >= readyAt) {
      wanted.click();
    }
  });

  function openNote() {
    const note = document.getElementById("note");
    note.closest("details").open = true;
    note.focus();
  }

  document.addEventListener("click", (event) => {
    const on = event.target.closest("[data-dialog], [data-focus], [data-place], [data-raw], [data-move]");
    if (!on) return;
    if (on.dataset.raw) {
      const raw = document.body.classList.toggle("raw-text");
      on.setAttribute("aria-pressed", raw);
      return say(raw ? "Answers as they are written" : "Answers as they are meant");
    }
    if (on.dataset.move) return move(Number(on.dataset.of), Number(on.dataset.move));
    if (on.dataset.dialog) document.getElementById(on.dataset.dialog).showModal();
    else if (on.dataset.focus) openNote();
    else place(Number(on.dataset.place));
  });

  // --- ranks ------------------------------------------------------------------------------------------

  const ranks = () => [...document.querySelectorAll(".ranked input[type=number]")];

  function place(which) {
    const fields = ranks();
    const rank = Number(fields[which].value);
    if (rank) {
      fields[which].value = "";
      for (const each of fields) if (Number(each.value) > rank) each.value -= 1;
      say(`Answer ${which + 1} taken out of the order`);
    } else {
      fields[which].value = fields.filter((each) => each.value).length + 1;
      const open = fields.filter((each) => !each.value);
      if (open.length === 1) open[0].value = fields.length;
      say(`Answer ${which + 1} is number ${fields[which].value}` +
        (open.length <= 1 ? "; the order is complete, Enter saves it" : ""));
    }
    showRanks();
  }

  // One place up or down; what stood there takes the place that is left.
  function move(which, step) {
    const fields = ranks();
    const rank = Number(fields[which].value);
    const other = fields.find((each) => rank && Number(each.value) === rank + step);
    if (!other) return;
    fields[which].value = rank + step;
    other.value = rank;
    say(`Answer ${which + 1} is number ${rank + step}`);
    showRanks();
  }

  function unplaceLast() {
    const fields = ranks();
    const last = fields.reduce((best, each, n) =>
      Number(each.value) > Number(fields[best]?.value ?? 0) ? n : best, -1);
    if (last < 0 || !fields.length) return false;
    // The last place filled itself in; it goes with the one before it.
    if (fields.every((each) => each.value)) {
      fields[last].value = "";
      return unplaceLast();
    }
    place(last);
    return true;
  }

  function showRanks() {
    for (const each of ranks()) {
      each.closest("li").classList.toggle("placed", Boolean(each.value));
    }
  }

  document.addEventListener("input", (event) => event.target.closest(".ranked") && showRanks());

  remembered();
  if (work()) {
    showRanks();
    ready();
    if (unsent.size) sendAgain();
  }
})();
