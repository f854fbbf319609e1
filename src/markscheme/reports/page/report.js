"use strict";
// The table of answers: unpack the columns, filter, sort, show a page of rows, keep the state in
// the address. Texts reach the page through textContent only.
(() => {
  const $ = (id) => document.getElementById(id);
  const { make, fixed, marked, answer: answerBox, why: whyBox } = shown;
  const count = (number) => number.toLocaleString("en");
  const percent = (part, whole) => (whole ? `${fixed(100 * (part / whole), 1)}%` : "n/a");
  const words = (name) => name.replaceAll("_", " ").replace("em in ", "EM in ");

  const unpack = async (element) => {
    const text = atob(element.textContent);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    element.remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const DEFAULTS = {
    q: "", id: "", system: "", judge: "", verdict: "", people: "", agreement: "", mode: "",
    error: "", relation: "", status: "", asked: "", right: "", wrong: "", yes: "", no: "", voice: "", view: "", sort: "disagreement", order: "", page: "1", size: "50",
  };
  const VIEW = ["sort", "order", "page", "size", "view", "voice"]; // how answers are shown, not which
  const SIZES = ["25", "50", "100", "250"];

  const start = (data) => {
    const { rows, judges, names } = data;
    const people = data.people; // labels: 1, 0, or null where there is none
    const every = Array.from({ length: rows }, (_, row) => row);
    const open = new Set();
    let raw = false; // answers as they are written, not as they mean
    let whole = false; // whether what comes later is there: reasons, marks, failure modes
    let live = null; // what a page that is served can do: explain, take labels
    let state = { ...DEFAULTS };
    let found = every; // rows that the filters leave

    const value = (column, row) => {
      const code = column?.codes ? column.codes[row] : -1;
      return code < 0 ? null : column.values[code];
    };
    const labelOf = (row) => (people ? people[row] : null);
    // The judge that is chosen, else all.
    const chosenJudges = () => {
      const chosen = judges.filter((judge) => judge.name === state.judge);
      return chosen.length ? chosen : judges;
    };
    const fold = (text) =>
      /^[\x00-\x7f]*$/.test(text)
        ? text.toLowerCase()
        : text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

    // --- what is known of each row once -------------------------------------------------------
    const split = new Float32Array(rows); // how evenly the voices are divided
    const kind = new Uint8Array(rows); // 0 nothing to compare, 1 all agree, 2 people differ, 3 judges differ
    const weigh = (row) => {
      let yes = 0;
      let no = 0;
      for (const judge of judges) {
        const verdict = judge.verdict[row];
        if (verdict === 1) yes++;
        else if (verdict === 0) no++;
      }
      const label = labelOf(row);
      const torn = yes > 0 && no > 0;
      const against = label !== null && (label ? no : yes) > 0;
      kind[row] = torn ? 3 : against ? 2 : yes + no + (label === null ? 0 : 1) > 1 ? 1 : 0;
      if (label !== null) label ? yes++ : no++;
      split[row] = yes + no ? Math.min(yes, no) / (yes + no) : 0;
    };
    for (const row of every) weigh(row);

    // A page that is served brings `serve`: what it can do more, with the parts it needs.
    if (typeof serve === "function") {
      live = serve({
        data, value, make, base: document.documentElement.dataset.live,
        references: (row) => data.reference.values[data.reference.codes[row]],
        labelled: (row, label) => {
          people[row] = label;
          weigh(row);
          order = { by: null, rows: every };
          table = { by: null };
          delete data.pairs?.people; // computed when the page was opened
          const line = body.querySelector(`.toggle[data-row="${row}"]`)?.closest("tr");
          const fresh = rowOf(row);
          line?.replaceWith(fresh);
          drawShortcuts();
          drawTally();
          drawDuel();
          drawThreshold();
        },
      });
    }

    // --- questions by system --------------------------------------------------------------------
    const systems = data.system.values;
    const labelled = () => Boolean(people?.some((label) => label !== null));
    const voices = () => [...(labelled() ? ["people"] : []), ...judges.map((judge) => judge.name)];
    const voice = () => (voices().includes(state.voice) ? state.voice : voices()[0]);
    const verdicts = () => (voice() === "people" ? people : judges.find((judge) => judge.name === voice()).verdict);
    let table = { by: null };
    // Of each question: right and judged answers of each system, by whose voice is chosen.
    const questions = () => {
      const by = voice();
      if (table.by !== by) {
        const said = verdicts();
        const lines = new Map();
        for (const row of every) {
          const code = data.question.codes[row];
          if (!lines.has(code)) lines.set(code, { code, right: new Uint16Array(systems.length), judged: new Uint16Array(systems.length), rows: [] });
          const line = lines.get(code);
          const at = data.system.codes[row];
          line.rows.push(row);
          if (said[row] === null) continue;
          line.judged[at]++;
          line.right[at] += said[row];
        }
        table = { by, lines: [...lines.values()] };
      }
      return table.lines;
    };
    const share = (line, system) => {
      const at = systems.indexOf(system);
      return at < 0 || !line.judged[at] ? null : line.right[at] / line.judged[at];
    };
    const beats = (line, one, other) => {
      const [first, second] = [share(line, one), share(line, other)];
      return first !== null && second !== null && first > second;
    };

    // --- searching ------------------------------------------------------------------------------
    const texts = [
      data.question, data.answer,
      { values: data.reference.values.map((list) => list.join(" \u001e ")), codes: data.reference.codes },
      { values: data.ids, codes: every },
    ].filter((column) => column.codes);
    const folded = new Map();
    const foldedOf = (column) => {
      if (!folded.has(column)) folded.set(column, column.values.map(fold));
      return folded.get(column);
    };
    const terms = (text) => [...fold(text).matchAll(/"([^"]+)"?|[^\s"]+/g)].map((found) => found[1] ?? found[0]);
    // Each different text is looked at once for each word; rows then look their texts' results up.
    const search = (candidates, text) => {
      for (const term of terms(text)) {
        const hits = texts.map((column) => {
          const plain = foldedOf(column);
          const found = new Uint8Array(plain.length);
          for (let at = 0; at < plain.length; at++) found[at] = plain[at].includes(term) ? 1 : 0;
          return found;
        });
        candidates = candidates.filter((row) => {
          for (let at = 0; at < hits.length; at++) {
            const code = texts[at].codes[row];
            if (code >= 0 && hits[at][code]) return true;
          }
          return false;
        });
      }
      return candidates;
    };

    // --- sorting --------------------------------------------------------------------------------
    const ranks = new Map();
    const rankOf = (column) => {
      if (!ranks.has(column)) {
        const plain = foldedOf(column);
        const order = plain.map((_, code) => code).sort((one, other) => (plain[one] < plain[other] ? -1 : plain[one] > plain[other] ? 1 : 0));
        const rank = new Int32Array(order.length);
        order.forEach((code, place) => { rank[code] = place; });
        ranks.set(column, rank);
      }
      return ranks.get(column);
    };
    const byText = (column) => (row) => {
      const code = column.codes ? column.codes[row] : -1;
      return code < 0 ? Infinity : rankOf(column)[code];
    };
    // The same order each time, which nothing about an answer decides.
    const chance = (row) => {
      let mixed = (row + 1) * 0x9e3779b1;
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      return (mixed ^ (mixed >>> 16)) >>> 0;
    };
    const COLUMNS = {
      random: ["chance (to label fairly)", (row) => chance(row)],
      disagreement: ["disagreement", (row) => -(kind[row] * 2 + split[row])],
      row: ["order in the file", (row) => row],
      question: ["question", byText(data.question)],
      answer: ["answer", byText(data.answer)],
      system: ["system", byText(data.system)],
      ...(people && { people: ["people", (row) => people[row] ?? Infinity] }),
      ...Object.fromEntries(judges.map((judge) => [
        `judge:${judge.name}`,
        [judge.name, (row) => judge.score?.[row] ?? judge.verdict[row] ?? Infinity],
      ])),
    };
    let order = { by: null, rows: every };
    const ordered = () => {
      const by = `${state.order} ${state.sort}`;
      if (order.by !== by) {
        const turn = state.order === "down" ? -1 : 1;
        const last = (key) => (key === Infinity ? key : turn * key); // no value: last either way
        const keys = Float64Array.from(every, COLUMNS[state.sort][1]).map(last);
        const compare = (one, other) => (keys[one] === keys[other] ? one - other : keys[one] - keys[other]);
        order = { by, rows: every.slice().sort(compare) };
      }
      return order.rows;
    };

    // --- filtering ------------------------------------------------------------------------------
    const unsure = new Map(judges.map((judge) => [judge, new Set(judge.unsure)]));
    const VERDICTS = {
      accepts: ["accepts", (verdict) => verdict === 1],
      rejects: ["rejects", (verdict) => verdict === 0],
      none: ["no verdict", (verdict) => verdict === null],
      unsure: ["unsure", (verdict, label, judge, row) => unsure.get(judge).has(row)],
      ...(people && {
        differs: ["differs from people", (verdict, label) => verdict !== null && label !== null && verdict !== label],
        agrees: ["agrees with people", (verdict, label) => verdict !== null && verdict === label],
        tp: ["rightly accepts (TP)", (verdict, label) => verdict === 1 && label === 1],
        tn: ["rightly rejects (TN)", (verdict, label) => verdict === 0 && label === 0],
        fp: ["wrongly accepts (FP)", (verdict, label) => verdict === 1 && label === 0],
        fn: ["wrongly rejects (FN)", (verdict, label) => verdict === 0 && label === 1],
      }),
    };
    const AGREEMENT = {
      judges: ["judges differ", (row) => kind[row] === 3],
      ...(people && { people: ["judges agree, people differ", (row) => kind[row] === 2] }),
      all: ["all agree", (row) => kind[row] === 1],
    };
    const filter = () => {
      const tests = [];
      const those = chosenJudges();
      if (state.id) tests.push((row) => data.ids[row] === state.id);
      if (state.system) tests.push((row) => value(data.system, row) === state.system);
      if (state.people) {
        const wanted = { accepts: 1, rejects: 0 }[state.people] ?? null;
        tests.push((row) => labelOf(row) === wanted);
      }
      if (state.agreement) tests.push(AGREEMENT[state.agreement][1]);
      if (state.mode && data.mode) {
        const group = state.mode.startsWith("group:") ? state.mode.slice(6) : null;
        tests.push((row) => {
          const mode = value(data.mode.mode, row);
          return mode !== null && (group === null ? mode === state.mode : names.modes[mode][0] === group);
        });
      }
      const ofJudge = [];
      if (state.verdict) {
        const test = VERDICTS[state.verdict][1];
        ofJudge.push((judge, row) => test(judge.verdict[row], labelOf(row), judge, row));
      }
      if (state.error && whole) ofJudge.push((judge, row) => value(judge.error, row) === state.error);
      if (state.relation) {
        const wanted = names.relations.indexOf(state.relation);
        ofJudge.push((judge, row) => judge.relation !== null && judge.relation[row] === wanted);
      }
      if (state.status) {
        const wanted = names.statuses.indexOf(state.status);
        ofJudge.push((judge, row) => judge.status[row] === wanted);
      }
      if (ofJudge.length) {
        tests.push((row) => those.some((judge) => ofJudge.every((test) => test(judge, row))));
      }
      for (const [name, wanted] of [[state.yes, 1], [state.no, 0]]) {
        const one = name && judges.find((judge) => judge.name === name);
        if (one) tests.push((row) => one.verdict[row] === wanted);
      }
      if (state.asked) tests.push((row) => data.question.codes[row] === Number(state.asked));
      if (state.right && state.wrong) {
        const between = new Set(questions().filter((one) => beats(one, state.right, state.wrong)).map((one) => one.code));
        tests.push((row) => between.has(data.question.codes[row]) && [state.right, state.wrong].includes(value(data.system, row)));
      }
      let left = ordered();
      for (const test of tests) left = left.filter(test);
      return state.q.trim() ? search(left, state.q) : left;
    };

    // --- the address ------------------------------------------------------------------------------
    const addressOf = (some) =>
      "#" + new URLSearchParams(Object.entries(some).filter(([name, text]) => text !== DEFAULTS[name]));
    const read = () => {
      const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
      const next = { ...DEFAULTS };
      for (const name of Object.keys(DEFAULTS)) if (name in given) next[name] = given[name];
      if (!(next.sort in COLUMNS)) next.sort = DEFAULTS.sort;
      if (!(next.verdict in VERDICTS)) next.verdict = "";
      if (!(next.agreement in AGREEMENT)) next.agreement = "";
      if (!(next.view === "questions" && systems.length > 1)) next.view = "";
      if (!SIZES.includes(next.size)) next.size = DEFAULTS.size;
      return next;
    };

    // --- rows -------------------------------------------------------------------------------------
    const SHORT = 420;
    const short = (text) => (text.length > SHORT ? `${text.slice(0, SHORT)} …` : text);
    const excerpt = (row) => {
      const text = value(data.answer, row);
      if (!text?.trim()) return make("span", { class: "small", textContent: text === null ? "no answer" : "empty answer" });
      const spans = data.spans?.[row] ?? [];
      const from = spans.length && spans[0] > 150 ? spans[0] - 80 : 0;
      const html = value(data.shown, row);
      if (html) return make("div", { class: "clip-box" }, answerBox(text, spans, html, raw));
      const shownAnswer = make("div", { class: "clip", dir: "auto" }, from ? "… " : "", ...marked(text, spans, from, from + SHORT));
      if (text.length > from + SHORT) shownAnswer.append(" …");
      return shownAnswer;
    };
    const chip = (verdict, options = {}) => {
      const { score = null, status = null, wrong = false, who = "" } = options;
      if (verdict === null) {
        const shownStatus = status && status !== "judged" ? status : "–";
        return make("span", { class: "chip none", textContent: shownStatus });
      }
      const said = verdict ? "accepts" : "rejects";
      const digits = score === null || score === verdict ? "" : ` ${fixed(score, 2)}`;
      return make("span", { class: `chip ${verdict ? "yes" : "no"}${wrong ? " wrong" : ""}`, title: `${who} ${said}${wrong ? "; people differ" : ""}` },
        make("span", { "aria-hidden": "true", textContent: verdict ? "✓" : "✗" }),
        make("span", { class: "off-screen", textContent: said + (wrong ? ", people differ" : "") }),
        digits);
    };
    const chipOf = (judge, row) => {
      const verdict = judge.verdict[row];
      const label = labelOf(row);
      return chip(verdict, {
        score: judge.score?.[row] ?? null, status: names.statuses[judge.status[row]], who: judge.name,
        wrong: verdict !== null && label !== null && verdict !== label,
      });
    };
    const cell = (label, name, ...children) =>
      make("td", { role: "cell", class: name, "data-label": label }, ...children);
    const references = (row) => data.reference.values[data.reference.codes[row]];
    const rowOf = (row) => {
      const isOpen = open.has(row);
      const toggle = make("button", {
        class: "toggle", type: "button", textContent: isOpen ? "▾" : "▸", "aria-expanded": isOpen, "aria-label": `Details of answer ${row + 1}`, "data-row": row,
      });
      const mode = value(data.mode?.mode, row);
      return make("tr", { role: "row", class: isOpen ? "answer open" : "answer" },
        make("td", { role: "cell", class: "t" }, toggle),
        cell(null, "q", make("div", { class: "clip", dir: "auto", textContent: short(value(data.question, row)) }),
          make("div", { class: "references clip", dir: "auto", textContent: short(references(row).join(" · ")) })),
        cell(null, "a", excerpt(row), mode ? make("div", { class: "small", textContent: `exact match rejects it: ${words(mode)}` }) : null),
        cell("system", "s", make("bdi", { textContent: value(data.system, row) })),
        people ? cell("people", "v", chip(people[row])) : null,
        ...judges.map((judge) => cell(judge.name, "v", chipOf(judge, row))));
    };
    const facts = (judge, row) => {
      const said = [];
      const number = (name, digits) => (judge[name]?.[row] == null ? null : fixed(judge[name][row], digits));
      if (number("score", 3) !== null) said.push(`score ${number("score", 3)}`);
      if (judge.relation?.[row] != null) said.push(names.relations[judge.relation[row]]);
      if (number("marks", 2) !== null) said.push(`marks ${number("marks", 2)}`);
      if (number("cost_usd", 5) !== null) said.push(`$${number("cost_usd", 5)}`);
      if (number("tokens_in", 0) !== null) said.push(`${number("tokens_in", 0)} + ${number("tokens_out", 0)} tokens`);
      if (number("seconds", 2) !== null) said.push(`${number("seconds", 2)} s`);
      return said.join(", ");
    };
    const detailsOf = (row) => {
      const columns = 4 + (people ? 1 : 0) + judges.length;
      const answer = value(data.answer, row);
      const mode = value(data.mode?.mode, row);
      const context = value(data.context, row);
      const box = make("td", { role: "cell", colSpan: columns });
      const title = (text) => make("h3", { textContent: text });
      const question = value(data.question, row);
      if (question.length > SHORT) box.append(title("Whole question"), make("div", { class: "full", tabIndex: 0, dir: "auto", textContent: question }));
      if (answer !== null) {
        const html = value(data.shown, row);
        const switcher = html ? make("button", { type: "button", class: "raw-switch", textContent: raw ? "As it means (R)" : "Raw text (R)", onclick: turnRaw }) : null;
        box.append(make("div", { class: "titled" }, title("Whole answer"), switcher),
          make("div", { class: "full", tabIndex: 0 }, answerBox(answer, data.spans?.[row], html, raw)));
      }
      const aligned = data.aligned?.[row] ?? [];
      box.append(title(!references(row).length ? "No reference" : data.patterns?.[row] ? "References (patterns)" : "References, with the words that the answer has"),
        whyBox({
          references: references(row).map((text, at) => ({ text, spans: aligned[at]?.[0], answer: aligned[at]?.[1], values: data.values?.[row]?.[at] ?? null })),
          patterns: Boolean(data.patterns?.[row]) || answer === null || !whole,
        }));
      if (!whole) box.append(make("p", { class: "small", textContent: "Words in common, values and explanations are being looked up …" }));
      if (live && whole && answer !== null && !data.patterns?.[row]) box.append(title("Why, in full"), live.explain(row));
      if (live) box.append(title("Your verdict"), live.label(row));
      if (context !== null) box.append(title("Context"), make("div", { class: "full", tabIndex: 0, dir: "auto", textContent: context }));
      if (mode) {
        box.append(title("Why exact match rejects it"),
          make("div", { textContent: `${words(mode)} (${names.modes[mode][0]}): ${value(data.mode.evidence, row)}` }));
      }
      const votes = data.annotators?.[row];
      if (votes) box.append(title("Annotators"), make("div", { textContent: votes.map((vote) => vote ?? "blank").join(", ") }));
      const lines = judges.map((judge) => {
        const explanation = value(judge.explanation, row);
        const reply = value(judge.raw, row);
        const error = value(judge.error, row);
        return make("tr", {},
          make("th", { scope: "row", textContent: judge.name }),
          make("td", {}, chipOf(judge, row)),
          make("td", {}, make("div", { dir: "auto", textContent: explanation ?? "" }),
            error ? make("div", { class: "small", textContent: `error: ${words(error)}; ${value(judge.evidence, row)}` }) : null,
            reply !== null && reply !== explanation
              ? make("details", {}, make("summary", { textContent: "reply" }), make("div", { class: "full raw", tabIndex: 0, dir: "auto", textContent: reply }))
              : null),
          make("td", { class: "small", textContent: facts(judge, row) }));
      });
      box.append(title("Judges"), make("table", { class: "verdicts" },
        make("thead", {}, make("tr", {}, ...["judge", "verdict", "explanation", "figures"].map((text) => make("th", { scope: "col", textContent: text })))),
        make("tbody", {}, ...lines)));
      box.append(make("p", { class: "note" },
        make("a", { href: addressOf({ ...DEFAULTS, id: data.ids[row] }), textContent: `Link to this answer (${data.ids[row]})` })));
      return make("tr", { role: "row", class: "more", id: `more-${row}` }, box);
    };

    // --- drawing ----------------------------------------------------------------------------------
    const head = $("rows").tHead;
    const body = $("rows").tBodies[0];
    const breakable = (text) => text.split(/(?<=[_(=,/-])/).flatMap((part) => [make("wbr"), part]);
    const drawQuestions = () => {
      const said = verdicts();
      const codes = new Set(found.map((row) => data.question.codes[row]));
      const lines = questions().filter((line) => codes.has(line.code));
      const uneven = (line) => {
        const shares = systems.map((system) => share(line, system)).filter((one) => one !== null);
        return shares.length ? Math.max(...shares) - Math.min(...shares) : -1;
      };
      if (state.sort !== "row") lines.sort((one, other) => uneven(other) - uneven(one) || one.rows[0] - other.rows[0]);
      head.replaceChildren(make("tr", { role: "row" },
        make("th", { scope: "col", role: "columnheader", class: "q", textContent: `question, by ${voice()}` }),
        ...systems.map((system) => make("th", { scope: "col", role: "columnheader", class: "v" }, make("bdi", {}, ...breakable(system))))));
      const size = Number(state.size);
      const here = lines.slice((page() - 1) * size, page() * size);
      body.replaceChildren(...here.map((line) => make("tr", { role: "row" },
        cell(null, "q", make("button", { type: "button", class: "go", dir: "auto", textContent: short(data.question.values[line.code]), onclick: () => change({ asked: String(line.code), view: "" }) }),
          make("div", { class: "references clip", dir: "auto", textContent: short(references(line.rows[0]).join(" · ")) })),
        ...systems.map((system, at) => {
          const rows_ = line.rows.filter((row) => data.system.codes[row] === at);
          return cell(system, "v", ...(rows_.length ? rows_.map((row) => chip(said[row], { who: voice() })) : [make("span", { class: "small", textContent: "–" })]));
        }))));
      $("rows").style.setProperty("--columns", systems.length);
    };
    const drawHead = () => {
      const header = (name, text, style) => {
        const here = state.sort === name;
        const arrow = here ? (state.order === "down" ? " ↓" : " ↑") : "";
        const sorted = here ? (state.order === "down" ? "descending" : "ascending") : null;
        return make("th", { scope: "col", role: "columnheader", class: style, "aria-sort": sorted },
          make("button", { type: "button", title: `Sort by ${text}`, "data-sort": name }, ...breakable(text), arrow));
      };
      const focused = document.activeElement?.dataset?.sort;
      head.replaceChildren(make("tr", { role: "row" },
        make("th", { scope: "col", role: "columnheader", class: "t" }, make("span", { class: "off-screen", textContent: "details" })),
        header("question", "question and references", "q"), header("answer", "answer", "a"), header("system", "system", "s"),
        people ? header("people", "people", "v") : null,
        ...judges.map((judge) => header(`judge:${judge.name}`, judge.name, "v"))));
      $("rows").style.setProperty("--columns", judges.length + (people ? 1 : 0));
      if (focused) [...head.querySelectorAll("button")].find((button) => button.dataset.sort === focused)?.focus();
    };
    let lines_ = 0; // what the pages are counted by: answers, or questions
    const pageCount = () => Math.max(1, Math.ceil(lines_ / Number(state.size)));
    const page = () => Math.min(Math.max(1, Math.trunc(Number(state.page)) || 1), pageCount());
    const drawRows = () => {
      const size = Number(state.size);
      const here = found.slice((page() - 1) * size, page() * size);
      const lines = document.createDocumentFragment();
      for (const row of here) {
        lines.append(rowOf(row));
        if (open.has(row)) lines.append(detailsOf(row));
      }
      body.replaceChildren(lines);
      const scroller = body.parentElement.parentElement;
      if (scroller.scrollWidth > scroller.clientWidth) scroller.tabIndex = 0;
    };
    const drawTally = () => {
      const lines = [];
      const tally = (name, read_) => {
        let known = 0, yes = 0, same = 0, both = 0;
        for (const row of found) {
          const verdict = read_(row);
          if (verdict === null) continue;
          known++;
          yes += verdict;
          if (people && people[row] !== null) { both++; same += verdict === people[row] ? 1 : 0; }
        }
        const agrees = people && name !== "people" ? `, agrees ${percent(same, both)} on ${count(both)}` : "";
        lines.push(make("div", {}, make("dt", { textContent: name }),
          make("dd", { textContent: `${name === "people" ? "accept" : "accepts"} ${percent(yes, known)} of ${count(known)}${agrees}` })));
      };
      if (people) tally("people", (row) => people[row]);
      for (const judge of judges) tally(judge.name, (row) => judge.verdict[row]);
      $("tally").replaceChildren(...lines);
    };
    const drawCount = () => {
      // Paper has no pages to turn: it says which of them it is.
      $("printed").textContent = pageCount() > 1 ? `; printed here: ${count((page() - 1) * Number(state.size) + 1)} to ${count(Math.min(lines_, page() * Number(state.size)))}` : "";
      if (state.view === "questions") {
        $("count").textContent = `${count(lines_)} question${lines_ === 1 ? "" : "s"}, ${state.sort === "row" ? "as in the file" : "those on which systems differ first"}`;
        return;
      }
      const what = found.length === rows ? `All ${count(rows)} answers` : `${count(found.length)} of ${count(rows)} answers`;
      const by = COLUMNS[state.sort][0];
      $("count").textContent = `${what}, by ${by}${state.order === "down" ? ", descending" : ""}`;
    };
    const drawViews = () => {
      const names_ = { "": "Answers", questions: "Questions by system" };
      $("views").replaceChildren(...(systems.length < 2 ? [] : Object.entries(names_)).map(([view, text]) => make("button", {
        type: "button", textContent: text, "aria-pressed": state.view === view,
        onclick: () => { change({ view }); $("views").querySelector("[aria-pressed=true]").focus(); },
      })));
    };
    // One press to what is read first, of the judge that is chosen or of any.
    const SHORTCUTS = { ...(people && { fp: "False passes", fn: "False rejects" }), unsure: "Unsure" };
    const drawShortcuts = () => {
      const those = chosenJudges();
      $("shortcuts").replaceChildren(...Object.entries(SHORTCUTS).map(([verdict, text]) => {
        const test = VERDICTS[verdict][1];
        const many = every.filter((row) => those.some((judge) => test(judge.verdict[row], labelOf(row), judge, row))).length;
        const pressed = state.verdict === verdict;
        return make("button", { type: "button", textContent: `${text}: ${count(many)}`, "aria-pressed": pressed, onclick: () => {
          change({ verdict: pressed ? "" : verdict });
          $("shortcuts").children[Object.keys(SHORTCUTS).indexOf(verdict)].focus();
        } });
      }));
    };
    const drawDuel = () => {
      const { right, wrong } = state;
      const duel = $("duel");
      if (!right || !wrong || right === wrong) return duel.replaceChildren();
      let wins = 0, losses = 0, both = 0;
      for (const line of questions()) {
        const [one, other] = [share(line, right), share(line, wrong)];
        if (one === null || other === null) continue;
        both++;
        if (one > other) wins++;
        else if (other > one) losses++;
      }
      const pair = data.pairs?.[voice()]?.find((names) => names.slice(0, 2).includes(right) && names.slice(0, 2).includes(wrong));
      const luck = pair && `${pair[2] < 0.05 ? "More than luck" : "Luck alone may do that"} (score test by question, Holm's correction over all pairs of systems, p = ${pair[3]}).`;
      duel.replaceChildren(make("p", {},
        make("bdi", { textContent: right }), ` right and `, make("bdi", { textContent: wrong }), ` wrong: ${count(wins)} questions; the other way round: ${count(losses)}; of ${count(both)} that both answered, by ${voice()}. `,
        luck ? make("strong", { textContent: luck }) : null, " ",
        make("button", { type: "button", textContent: "The other way round", onclick: () => change({ right: wrong, wrong: right }) })));
    };
    const update = () => {
      performance.mark("update");
      found = filter();
      drawViews();
      drawShortcuts();
      if (state.view === "questions") {
        lines_ = new Set(found.map((row) => data.question.codes[row])).size;
        drawQuestions();
      } else {
        lines_ = found.length;
        drawHead();
        drawRows();
      }
      drawPages();
      drawCount();
      drawTally();
      drawDuel();
      drawThreshold();
      performance.measure("markscheme update", "update");
    };

    // --- controls ---------------------------------------------------------------------------------
    const controls = new Map();
    const change = (part) => {
      state = { ...state, page: "1", ...part };
      if (!("id" in part) && state.id) state.id = "";
      history.replaceState(null, "", addressOf(state) === "#" ? "#answers" : addressOf(state));
      showState();
      update();
    };
    const showState = () => {
      for (const [name, control] of controls) {
        control.value = state[name];
        control.classList.toggle("on", state[name] !== DEFAULTS[name]);
      }
      $("clear").hidden = Object.keys(DEFAULTS).every((name) => VIEW.includes(name) || state[name] === DEFAULTS[name]);
    };
    const select = (name, text, options, none = "any", before = null) => {
      if (!options.length) return;
      const plain = options.flatMap((option) => option.options ?? [option]);
      if (plain.length < 2 && name !== "status") return;
      const control = make("select", { id: `filter-${name}`, onchange: () => change({ [name]: control.value }) }, make("option", { value: "", textContent: none }));
      for (const option of options) {
        const choices = (option.options ?? [option]).map(([choice, shownAs]) => make("option", { value: choice, textContent: shownAs }));
        control.append(...(option.options ? [make("optgroup", { label: option.label }, ...choices)] : choices));
      }
      controls.set(name, control);
      $("filters").insertBefore(make("label", {}, text, control), before);
    };
    const plain = (list) => list.map((text) => [text, words(text)]);
    const pairs = (table) => Object.entries(table).map(([name, [text]]) => [name, text]);
    const box = make("input", { type: "search", id: "filter-q", placeholder: "words, or \"a phrase\"", autocomplete: "off", spellcheck: false, oninput: () => change({ q: box.value }) });
    controls.set("q", box);
    $("filters").append(make("label", { class: "search" }, "Search questions, answers, explanations ( / )", box));
    select("agreement", "Agreement", judges.length > 1 || people ? pairs(AGREEMENT) : []);
    select("system", "System", data.system.values.map((text) => [text, text]));
    select("judge", "Judge", judges.map((judge) => [judge.name, judge.name]));
    select("verdict", "Verdict", pairs(VERDICTS));
    if (people) select("people", "People", [["accepts", "accept"], ["rejects", "reject"], ["none", "no label"]]);
    const ofModes = make("span", { hidden: true }); // where the filters of what comes later go
    $("filters").append(ofModes);
    const relations = new Set(judges.flatMap((judge) => [...new Set(judge.relation ?? [])]));
    select("relation", "Relation", plain(names.relations.filter((_, at) => relations.has(at))));
    const statuses = new Set(judges.flatMap((judge) => [...new Set(judge.status)]));
    select("status", "Status", plain(names.statuses.filter((_, at) => statuses.has(at))));
    if (judges.length > 1) {
      select("yes", "Judge that accepts", judges.map((judge) => [judge.name, judge.name]));
      select("no", "Judge that rejects", judges.map((judge) => [judge.name, judge.name]));
    }
    if (systems.length > 1) {
      const names_ = systems.map((text) => [text, text]);
      select("right", "System that is right", names_);
      select("wrong", "System that is wrong", names_);
      select("voice", "By whose word", voices().map((text) => [text, text]), "first of these");
    }
    const orders = make("select", { id: "filter-sort", onchange: () => change({ sort: orders.value, order: "" }) }, ...Object.entries(COLUMNS).map(([name, [text]]) => make("option", { value: name, textContent: text })));
    controls.set("sort", orders);
    $("filters").append(make("label", {}, "Sort by", orders));
    // What comes later: marks, reasons, failure modes, and the filters that need them.
    const arrive = (more) => {
      Object.assign(data, more.answers);
      more.judges.forEach((columns, at) => Object.assign(judges[at], columns));
      texts.push(...[data.context, ...judges.flatMap((judge) => [judge.explanation, judge.raw])].filter((column) => column?.codes));
      if (data.mode) {
        COLUMNS.mode = ["failure mode", byText(data.mode.mode)];
        orders.append(make("option", { value: "mode", textContent: "failure mode" }));
        const present = new Set(data.mode.mode.values);
        const groups = [...new Set(Object.values(names.modes).map(([group]) => group))];
        select("mode", "Failure mode", groups.flatMap((group) => {
          const modes = Object.keys(names.modes).filter((mode) => names.modes[mode][0] === group && present.has(mode));
          const all = modes.length > 1 ? [[`group:${group}`, `all: ${group}`]] : [];
          return modes.length ? [{ label: group, options: [...all, ...plain(modes)] }] : [];
        }), "any", ofModes);
        const errors = new Set(judges.flatMap((judge) => judge.error?.values ?? []));
        select("error", "Error of a judge", plain(Object.keys(names.errors).filter((name) => errors.has(name))), "any", ofModes);
      }
      whole = true;
      for (const name of ["save-jsonl", "save-csv"]) $(name).disabled = false;
      // An address may ask for what was not there yet.
      if (location.hash.includes("=")) state = { ...read(), page: state.page };
      showState();
      update();
      document.documentElement.dataset.ready = "";
    };
    $("clear").addEventListener("click", () => {
      const { sort, order: turn, size } = state;
      change({ ...DEFAULTS, sort, order: turn, size });
      box.focus();
    });

    // --- a threshold to try ---------------------------------------------------------------------
    const scored = judges.filter((judge) => judge.score && new Set(judge.score.filter((score) => score !== null)).size > 2);
    const slider = make("input", { type: "range", id: "threshold", min: 0, max: 1, step: 0.01, value: 0.5, oninput: () => drawThreshold() });
    const whose = make("select", { id: "threshold-of", onchange: () => drawThreshold() }, ...scored.map((judge) => make("option", { value: judge.name, textContent: judge.name })));
    const says = make("p", { role: "status", id: "threshold-says" });
    const drawThreshold = () => {
      if (!scored.length) return;
      const judge = scored.find((one) => one.name === whose.value) ?? scored[0];
      const from = Number(slider.value);
      let known = 0, yes = 0, both = 0, fp = 0, fn = 0;
      for (const row of found) {
        const score = judge.score[row];
        if (score === null) continue;
        const verdict = score >= from ? 1 : 0;
        known++;
        yes += verdict;
        if (!people || people[row] === null) continue;
        both++;
        if (verdict && !people[row]) fp++;
        if (!verdict && people[row]) fn++;
      }
      const errors = both ? `; of ${count(both)} with a label it would wrongly accept ${count(fp)} and wrongly reject ${count(fn)} (right on ${percent(both - fp - fn, both)})` : "; without labels, its errors are not known";
      says.textContent = `From a score of ${fixed(from, 2)}, ${judge.name} would accept ${percent(yes, known)} of the ${count(known)} shown that it scored${errors}.`;
    };
    if (scored.length) {
      $("trial").append(make("details", {}, make("summary", { textContent: "Try another threshold" }),
        make("div", { class: "trial" }, make("label", {}, "Judge", whose), make("label", {}, "Accepts from a score of", slider)), says));
    }

    // --- taking rows along ------------------------------------------------------------------------
    const record = (row) => ({
      answer_id: data.ids[row], question: value(data.question, row), references: references(row), answer: value(data.answer, row),
      system: value(data.system, row), ...(people && { label: people[row] }),
      ...Object.fromEntries(judges.flatMap((judge) => {
        const verdict = judge.verdict[row];
        return [[`${judge.name} verdict`, verdict === null ? null : Boolean(verdict)], [`${judge.name} score`, judge.score?.[row] ?? null],
          [`${judge.name} status`, names.statuses[judge.status[row]]], [`${judge.name} explanation`, value(judge.explanation, row)]];
      })),
    });
    const inCell = (field) => {
      const text = field === null || field === undefined ? "" : Array.isArray(field) ? JSON.stringify(field) : String(field);
      // A spreadsheet would run a cell that begins so; as csv_cell and csv_value of markscheme.text have it.
      const tame = typeof field === "string" && /^'*(?:[=@\t\r]|[+-](?![\s\d.,]|$))/.test(text) ? `'${text}` : text;
      return /[",\r\n]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
    };
    const save = (name, type, text) => {
      const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    };
    $("save-jsonl").addEventListener("click", () => save("answers.jsonl", "application/x-ndjson", found.map((row) => JSON.stringify(record(row)) + "\n").join("")));
    $("save-csv").addEventListener("click", () => {
      const records = found.map(record);
      const header = Object.keys(record(0));
      save("answers.csv", "text/csv", [header, ...records.map((one) => header.map((name) => one[name]))].map((line) => line.map(inCell).join(",")).join("\r\n") + "\r\n");
    });

    const drawPages = () => {
      const nav = $("pages");
      const go = (to) => { change({ page: String(to) }); $("answers").scrollIntoView(); };
      const button = (text, to, id) => make("button", { type: "button", id, textContent: text, disabled: to < 1 || to > pageCount(), onclick: () => go(to) });
      const focused = nav.contains(document.activeElement) ? document.activeElement.id : null;
      const field = make("input", { type: "number", id: "page", min: 1, max: pageCount(), value: page(), onchange: (event) => go(event.target.value) });
      const sizes = make("select", { id: "size", onchange: () => change({ size: sizes.value }) }, ...SIZES.map((size) => make("option", { value: size, textContent: size, selected: size === state.size })));
      nav.replaceChildren(button("Previous", page() - 1, "previous"), make("label", {}, "Page", field, `of ${count(pageCount())}`),
        button("Next", page() + 1, "next"), make("label", {}, "Rows", sizes));
      if (focused) $(focused)?.focus();
    };

    head.addEventListener("click", (event) => {
      const name = event.target.closest("button")?.dataset.sort;
      if (name) change({ sort: name, order: state.sort === name && state.order !== "down" ? "down" : "" });
    });
    const toggles = () => [...body.querySelectorAll(".toggle")];
    const turn = (toggle) => {
      const row = Number(toggle.dataset.row);
      const line = toggle.closest("tr");
      if (open.delete(row)) line.nextElementSibling.remove();
      else {
        open.add(row);
        line.after(detailsOf(row));
      }
      line.classList.toggle("open", open.has(row));
      toggle.setAttribute("aria-expanded", open.has(row));
      toggle.textContent = open.has(row) ? "▾" : "▸";
    };
    const turnRaw = () => {
      raw = !raw;
      drawRows();
    };
    body.addEventListener("click", (event) => {
      const toggle = event.target.closest(".toggle");
      if (toggle) return turn(toggle);
      const line = event.target.closest("tr.answer");
      // A click anywhere opens the row, but not one that follows a link or selects a text.
      if (!line || event.target.closest("a, button, input, summary") || String(getSelection())) return;
      turn(line.querySelector(".toggle"));
      line.querySelector(".toggle").focus({ preventScroll: true });
    });
    body.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const line = event.target.closest("tr");
      if (!step || !event.target.closest(".toggle, .go")) return;
      const all = [...body.querySelectorAll(".toggle, .go")];
      all[all.indexOf(line.querySelector(".toggle, .go")) + step]?.focus();
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        box.focus();
      }
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "r") turnRaw();
      const step = { j: 1, k: -1 }[event.key];
      if (step) {
        const all = toggles();
        const at = all.indexOf(document.activeElement);
        all[at < 0 ? 0 : at + step]?.focus();
      }
    });
    const settleFigures = () => {
      // On a narrow screen the answers come soon: figures but the first open when asked for.
      const more = $("more-figures");
      if (more && matchMedia("(max-width: 46rem)").matches && !location.hash.startsWith("#section")) more.open = false;
      for (const scroller of document.querySelectorAll(".chart, .wide")) {
        if (scroller.scrollWidth > scroller.clientWidth) scroller.tabIndex = 0;
      }
    };
    addEventListener("beforeprint", () => { if ($("more-figures")) $("more-figures").open = true; });
    document.addEventListener("click", (event) => {
      const mark = event.target.closest?.("svg a");
      if (!mark) return;
      event.preventDefault();
      location.hash = mark.getAttribute("href");
    });
    const follow = () => {
      if (location.hash && !location.hash.includes("=")) return;
      state = read();
      if (state.id) every.filter((row) => data.ids[row] === state.id).forEach((row) => open.add(row));
      showState();
      update();
      if (location.hash) $("answers").scrollIntoView();
    };
    addEventListener("hashchange", follow);
    showState();
    if (location.hash.includes("=")) follow();
    else update();
    settleFigures();
    performance.mark("markscheme rows");
    document.documentElement.dataset.rows = "";
    const warm = () => texts.forEach(foldedOf);
    const whenIdle = (work) => ("requestIdleCallback" in window ? requestIdleCallback(work, { timeout: 500 }) : setTimeout(work, 100));
    whenIdle(() => (live ? live.later() : unpack($("later"))).then(arrive).then(() => live?.figures(settleFigures)).then(() => whenIdle(warm))
      .catch((error) => { $("count").append(` The reasons cannot be shown: ${error.message}.`); }));
  };

  unpack($("data")).then(start).catch((error) => {
    $("count").textContent = `The answers cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
    throw error;
  });
})();
