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

  const FOR_GOOD = {
    401: "you are signed out. Open your personal link again",
    403: "this page is of an earlier sign-in. Reload it, or open your personal link again",
  };

  function why(code) {
    if (FOR_GOOD[code]) return FOR_GOOD[code];
    if (!code) return "no connection";
    return code === 429 || code >= 500 ? `the server is busy (${code})` : `the server refused it (${code})`;
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

  function retryLater(code) {
    busy = true;
    const wait = Math.min(SLOWEST_RETRY_MS, 1000 * 2 ** tries);
    tries += 1;
    const where = stored ? "It is stored in this browser" : "Keep this page open";
    say(`Not saved yet: ${why(code)}. ${where}; trying again in ${Math.round(wait / 1000)} s.`, "unsaved");
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
      if (event.detail.requestConfig?.verb === "post") busy = false;
      if (!work()) say(code === 200 ? "" : `What is shown is not up to date: ${why(code)}.`);
      else if (code !== 200) say(`That did not work: ${why(code)}.`, "unsaved");
      return;
    }
    const submission = event.detail.requestConfig.formData.get("submission");
    if (code === 200 || code === 409) {
      forget(submission);
      tries = 0;
      if (unsent.size) sendAgain();
      else settle();
    } else if (FOR_GOOD[code]) {
      say(`Not saved: ${why(code)}.${stored ? " Your choice is stored here." : ""}`, "unsaved");
    } else if (code === 404 || code === 413 || code === 415 || code === 422) {
      forget(submission);
      busy = false;
      say("The server refused this choice. Reload the page and choose again.", "unsaved");
    } else {
      retryLater(code);
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
    showRanks();
    const references = area.querySelector(".references");
    if (references && opened !== null) references.open = opened;
    if (!unsent.size) settle();
    area.querySelector(".focus-first")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  // References that a person opens are open for the next answers too, until they close them.
  const OPENED = "markscheme-references-opened";
  let opened = null;
  try {
    opened = JSON.parse(sessionStorage.getItem(OPENED));
  } catch {
    opened = null;
  }

  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.(".references")) return;
    opened = event.target.open;
    try {
      sessionStorage.setItem(OPENED, opened);
    } catch {
      // Then they stay open on this page alone.
    }
  }, true);

  // --- keys -------------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const on = event.target;
    if (on.closest("textarea, input, select")) {
      if (event.key === "Escape") work()?.querySelector(".focus-first")?.focus();
      return;
    }
    // A handle does nothing when it is pressed, so Enter on it saves the order.
    const pressed = on.closest("button:not([data-grip]), a, summary");
    if ((event.key === " " || event.key === "Enter") && pressed) return;
    if (event.key === "Backspace" && unplaceLast()) {
      event.preventDefault();
      return;
    }
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step && on.closest("[data-grip]")) {
      event.preventDefault();
      return shift(on.closest("[data-grip]"), step);
    }
    const wanted = [...document.querySelectorAll("[data-key]")].find(
      (each) => each.dataset.key === event.key && !each.closest("[hidden]"),
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
    const on = event.target.closest(
      "[data-dialog], [data-focus], [data-place], [data-raw], [data-move], [data-tie]",
    );
    if (!on) return;
    if (on.dataset.raw) {
      const raw = document.body.classList.toggle("raw-text");
      on.setAttribute("aria-pressed", raw);
      return say(raw ? "Answers as they are written" : "Answers as they are meant");
    }
    if (on.dataset.tie) return tie();
    if (on.dataset.move) return move(Number(on.dataset.of), Number(on.dataset.move));
    if (on.dataset.dialog) document.getElementById(on.dataset.dialog).showModal();
    else if (on.dataset.focus) openNote();
    else place(Number(on.dataset.place));
  });

  // --- ranks ------------------------------------------------------------------------------------------

  // In the answers' own order, however they are shown.
  const ranks = () => [...document.querySelectorAll(".ranked input[type=number]")].sort(
    (one, other) => Number(one.name.slice(4)) - Number(other.name.slice(4)),
  );

  // Places of answers, best first; answers of one group share their place.
  function groups() {
    const found = new Map();
    ranks().forEach((each, n) => {
      const rank = Number(each.value);
      if (rank) found.set(rank, [...(found.get(rank) ?? []), n]);
    });
    return [...found].sort(([one], [other]) => one - other).map(([, members]) => members);
  }

  let filled = -1; // the answer that got the last place because only that was left

  function setGroups(all) {
    filled = -1;
    const fields = ranks();
    for (const each of fields) each.value = "";
    let rank = 1;
    for (const members of all) {
      for (const n of members) fields[n].value = rank;
      rank += members.length;
    }
    showRanks();
  }

  const complete = (all) => all.flat().length === ranks().length;
  const whole = (all) => (complete(all) ? "; the order is complete, Enter saves it" : "");

  function place(which) {
    const all = groups();
    if (which === filled) { // Its key too, by somebody who presses every key: not taken out again.
      filled = -1;
      return say(`Answer ${which + 1} is number ${ranks()[which].value}${whole(all)}`);
    }
    if (ranks().every((each) => each.value && each.value === each.defaultValue)) {
      setGroups([[which]]); // An order that was saved: the keys give a new one.
      return say(`A new order: answer ${which + 1} is number 1`);
    }
    if (ranks()[which].value) {
      setGroups(all.map((each) => each.filter((n) => n !== which)).filter((each) => each.length));
      return say(`Answer ${which + 1} taken out of the order`);
    }
    all.push([which]);
    const open = ranks().map((_, n) => n).filter((n) => !all.flat().includes(n));
    if (open.length === 1) all.push(open);
    setGroups(all);
    if (open.length === 1) [filled] = open;
    say(`Answer ${which + 1} is number ${ranks()[which].value}${whole(all)}`);
  }

  // One place up or down: out of a shared place, or past the neighbours.
  function move(which, step) {
    const all = groups();
    const at = all.findIndex((each) => each.includes(which));
    if (at < 0) return;
    if (all[at].length > 1) {
      all[at] = all[at].filter((n) => n !== which);
      all.splice(step < 0 ? at : at + 1, 0, [which]);
    } else {
      if (!all[at + step]) return;
      [all[at], all[at + step]] = [all[at + step], all[at]];
    }
    setGroups(all);
    say(`Answer ${which + 1} is number ${ranks()[which].value}`);
  }

  // The one placed last shares the place of the one before it, or leaves it again. The last place of
  // all filled itself in, so the one before that is meant until it is shared too.
  function tie() {
    const all = groups();
    if (!all.length) return;
    if (all.at(-1).length > 1) {
      const which = all.at(-1).pop();
      all.push([which]);
      say(`Answer ${which + 1} has a place of its own`);
    } else if (all.length > 1) {
      const [which] = all.pop();
      all.at(-1).push(which);
      say(`Answer ${which + 1} shares its place with ${all.at(-1).length - 1} other`);
    }
    setGroups(all);
  }

  function unplaceLast() {
    const all = groups();
    if (!all.length) return false;
    // The last place filled itself in; it goes with the one before it.
    if (complete(all)) all.at(-1).length > 1 ? all.at(-1).pop() : all.pop();
    if (!all.length) return false;
    const which = all.at(-1).pop();
    setGroups(all.filter((each) => each.length));
    say(`Answer ${which + 1} taken out of the order`);
    return true;
  }

  function showRanks() {
    for (const each of ranks()) {
      each.closest("li").classList.toggle("placed", Boolean(each.value));
    }
  }

  // --- ranks: by dragging -------------------------------------------------------------------------------

  // What is shown becomes the order.
  function takeShown(which) {
    const grips = [...document.querySelectorAll(".ranked [data-grip]")];
    setGroups(grips.map((each) => [Number(each.dataset.grip)]));
    say(`Answer ${which + 1} is number ${ranks()[which].value}; the order is as shown, Enter saves it`);
  }

  document.addEventListener("pointerdown", (event) => {
    const grip = event.target.closest("[data-grip]");
    if (!grip || event.button) return;
    event.preventDefault();
    grip.focus({ preventScroll: true });
    const li = grip.closest("li");
    const list = li.parentElement;
    let moved = false;
    const held = grip.getBoundingClientRect().top;
    list.classList.add("sorting");
    li.classList.add("dragged");
    // Answers are cut to some lines meanwhile; the handle stays under the pointer.
    scrollBy(0, grip.getBoundingClientRect().top - held);
    const follow = (now) => {
      const EDGE = 70;
      if (now.clientY < EDGE) scrollBy(0, -12);
      else if (now.clientY > innerHeight - EDGE) scrollBy(0, 12);
      for (const other of list.children) {
        const box = other.getBoundingClientRect();
        const inside = now.clientY >= box.top && now.clientY <= box.bottom;
        if (other === li || !inside) continue;
        const after = now.clientY > (box.top + box.bottom) / 2;
        const place_ = after ? other.nextElementSibling : other;
        if (place_ !== li && place_ !== li.nextElementSibling) {
          list.insertBefore(li, place_);
          moved = true;
        }
        break;
      }
    };
    const end = () => {
      list.classList.remove("sorting");
      li.classList.remove("dragged");
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (moved) takeShown(Number(grip.dataset.grip));
      li.scrollIntoView({ block: "nearest" });
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  });

  function shift(grip, step) {
    const li = grip.closest("li");
    const other = step < 0 ? li.previousElementSibling : li.nextElementSibling;
    if (!other) return;
    step < 0 ? other.before(li) : other.after(li);
    takeShown(Number(grip.dataset.grip));
    grip.focus();
    li.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("input", (event) => event.target.closest(".ranked") && showRanks());

  remembered();
  if (work()) {
    showRanks();
    ready();
    if (unsent.size) sendAgain();
  }
})();
