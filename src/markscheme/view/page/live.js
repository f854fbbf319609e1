"use strict";
// What a served report can do more: explain an answer in full, and take a person's verdict.
const serve = ({ data, value, make, base, references, labelled }) => {
  const { form, query } = document.documentElement.dataset;
  const ask = async (what, body) => {
    const response = await fetch(`${base}/${what}`, {
      method: "POST", headers: { "content-type": "application/json", "x-markscheme": form }, body: JSON.stringify(body),
    });
    const said = await response.json().catch(() => ({ problem: `the server answered ${response.status}` }));
    if (!response.ok) throw new Error(said.problem ?? response.status);
    return said;
  };
  const comments = new Map(); // By answer id, as the verdicts that were given here.
  const given = new Map();
  // Tables and figures come as HTML, in which the server has escaped all text.
  const nodesOf = (html) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes].map((node) => document.importNode(node, true));
  const showGiven = ({ labels, tables, problem, file }) => {
    document.getElementById("given").replaceChildren(...(labels ? [
      make("h3", { textContent: `${labels} verdict${labels === 1 ? "" : "s"} given here, saved in ${file}` }),
      ...nodesOf(tables),
      problem ? make("p", { class: "note", textContent: problem }) : "",
      make("p", { class: "note" }, "The figures above are as of when the page was opened; ", make("a", { href: location.href, textContent: "load them again", onclick: (event) => { event.preventDefault(); location.reload(); } }), ". An estimate of all holds where the labelled answers were picked by chance: sort by chance and label from the top."),
    ] : []));
  };
  ask("labels", {}).then((found) => {
    for (const [id, comment] of Object.entries(found.comments)) comments.set(id, comment);
    for (const [id, verdict] of Object.entries(found.given)) given.set(id, verdict);
    showGiven(found);
  }).catch(() => {});

  const label = (row) => {
    const id = data.ids[row];
    const status = make("span", { role: "status", class: "small" });
    const comment = make("input", { type: "text", maxLength: 10000, value: comments.get(id) ?? "", dir: "auto", "aria-label": "Comment", placeholder: "comment", onchange: () => send() });
    const send = async (verdict) => { // Without one, a comment: the verdict that was given here stays.
      status.textContent = "saving …";
      try {
        const found = await ask("label", { answer_id: id, label: verdict, comment: comment.value });
        comments.set(id, comment.value);
        const kept = found.given[id] ?? null;
        given.set(id, kept);
        if (verdict !== undefined) labelled(row, kept);
        for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.verdict === String(kept));
        status.textContent = "saved";
        showGiven(found);
      } catch (error) {
        status.textContent = `not saved: ${error.message}`;
      }
    };
    const buttons = [[1, "✓ right"], [0, "✗ wrong"], [null, "no label"]].map(([verdict, text]) => {
      const properties = { type: "button", textContent: text, "data-verdict": String(verdict), "aria-pressed": (given.get(id) ?? null) === verdict };
      return make("button", { ...properties, onclick: () => send(verdict) });
    });
    return make("div", { class: "give" }, ...buttons, comment, status);
  };

  const explain = (row) => {
    const place = make("div", { class: "explained" });
    const button = make("button", { type: "button", textContent: "What decided", onclick: async () => {
      button.disabled = true;
      place.replaceChildren(make("p", { class: "small", textContent: "asking the examiner …" }));
      try {
        const found = await ask("explain", { question: value(data.question, row), references: references(row), answer: value(data.answer, row) });
        place.replaceChildren(...shown.explanation(found));
      } catch (error) {
        place.replaceChildren(make("p", { class: "small", textContent: error.message }));
      }
      button.disabled = false;
    } });
    return make("div", {}, button, place);
  };
  // What takes longer than a page may take: reasons and marks first, then the figures.
  const got = async (what) => {
    const response = await fetch(`${base}/${what}${query}`);
    if (!response.ok) throw new Error(await response.text());
    return response;
  };
  const later = async () => (await got("later")).json();
  const figures = async (then) => {
    const place = document.getElementById("figures");
    try {
      place.replaceChildren(...nodesOf(await (await got("figures")).text()));
      document.documentElement.dataset.figures = "";
      then();
      if (location.hash.startsWith("#section")) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    } catch (error) {
      document.getElementById("figures-come").textContent = `The figures cannot be shown: ${error.message}`;
    }
  };
  return { label, explain, later, figures };
};
