// One answer judged, and why: the answer as its model means it, every reference aligned.
(() => {
  const { make, fixed, fragment, why, explanation } = shown;
  const $ = (id) => document.getElementById(id);
  // A value of what was sent, under the name that the page has for it.
  const field = ({ where, message }) => `${where.replace(/^body\.(answers\.0\.)?/, "")}: ${message}`;
  const ask = async (path, body) => {
    const key = $("key")?.value.trim();
    const response = await fetch(path, { method: "POST", headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) }, body: JSON.stringify(body) });
    const said = await response.json().catch(() => ({ detail: `the service answered ${response.status}` }));
    if (!response.ok) throw new Error([said.detail ?? response.status, ...(said.errors ?? []).map(field)].join(": "));
    return said;
  };
  $("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    $("go").disabled = true;
    $("said").replaceChildren(make("p", { textContent: "judging …" }));
    const item = { question: $("question").value, references: $("references").value.split("\n").map((line) => line.trim()).filter(Boolean), answer: $("answer").value };
    try {
      const judge = $("judge").value.trim();
      const [judged, found] = await Promise.all([ask("/v1/judgments", { ...(judge && { judge }), answers: [item] }), ask("/v1/explanations", item)]);
      const one = judged.judgments[0];
      const verdict = one.verdict === null ? one.status : one.verdict ? "accepts" : "rejects";
      const shownAnswer = make("div", { class: "answer-text" }, fragment(found.answer ?? found.raw));
      const decided = found.decided;
      $("said").replaceChildren(
        make("h2", {}, `${judged.judge} ${verdict}`, one.score === null ? "" : `, score ${fixed(one.score, 3)}`),
        make("p", { dir: "auto", textContent: one.explanation ?? "" }),
        make("h3", { textContent: "The answer, with words in common marked" }), shownAnswer,
        make("h3", { textContent: "The references, with the words that the answer has" }), why({ references: found.references }),
        ...(decided ? [make("h3", { textContent: "What decided" }), ...explanation(decided)] : []));
    } catch (error) {
      $("said").replaceChildren(make("p", { class: "finding conflict", textContent: error.message }));
    }
    $("go").disabled = false;
  });
  document.documentElement.dataset.ready = "";
})();
