"use strict";
// What every page shares: elements from texts, rendered answers, and why an answer fits or not.
const shown = (() => {
  const make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || value === undefined) continue;
      if (name === "class") element.className = value;
      else if (name in element && name !== "role" && name !== "dir") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  // With so many decimals, as the commands print it: what lies midway goes to the even digit, and
  // so does what only computing with floats has moved from there.
  const fixed = (given, digits) => {
    const number = Number(given.toFixed(9)), exact = number.toFixed(60);
    const end = exact.indexOf(".") + (digits ? digits + 1 : 0);
    const midway = /^\.?50*$/.test(exact.slice(end)) && /[02468]\.?$/.test(exact.slice(0, end));
    return (midway ? exact.slice(0, end) : number.toFixed(digits)).replace(/^-(?=[0.]+$)/, "");
  };

  // The renderer makes nothing else; a page shows nothing else, whatever it is sent.
  const ELEMENTS = new Set(("p br strong em s code pre ul ol li blockquote hr div span bdi mark table thead tbody tr th td " +
    "math mrow mi mn mo mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts " +
    "mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose merror").split(" "));
  const ATTRIBUTES = new Set(("dir class start title role aria-label tabindex display mathvariant stretchy fence separator accent " +
    "accentunder linethickness movablelimits columnalign notation form displaystyle scriptlevel symmetric largeop width " +
    "minsize maxsize").split(" "));
  const fragment = (html) => {
    const body = new DOMParser().parseFromString(html, "text/html").body;
    for (const element of body.querySelectorAll("*")) {
      if (!ELEMENTS.has(element.localName)) element.replaceWith(element.textContent);
      else for (const { name } of [...element.attributes]) if (!ATTRIBUTES.has(name)) element.removeAttribute(name);
    }
    const found = document.createDocumentFragment();
    found.append(...[...body.childNodes].map((node) => document.importNode(node, true)));
    return found;
  };

  // A text with marks at `spans` (starts and ends in turn), from one character up to another.
  const marked = (text, spans = [], from = 0, to = text.length) => {
    const parts = [];
    // Python counts characters, JavaScript halves of some of them.
    const units = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
    const cut = (begin, end) => (units ? units.slice(begin, end).join("") : text.slice(begin, end));
    const last = Math.min(to, units ? units.length : text.length);
    let at = from;
    for (let place = 0; place < spans.length; place += 2) {
      const begin = Math.max(spans[place], at);
      const end = Math.min(spans[place + 1], last);
      if (end <= begin) continue;
      parts.push(cut(at, begin), make("mark", { textContent: cut(begin, end) }));
      at = end;
    }
    parts.push(cut(at, last));
    return parts;
  };

  // An answer as its model means it; `raw` as it is written. `html` is null for plain texts.
  const answer = (text, spans, html, raw = false) => {
    const box = make("div", { class: "answer-text" });
    if (html && !raw) box.append(fragment(html));
    else box.append(make("p", { class: "lines", dir: "auto" }, ...marked(text, spans)));
    return box;
  };

  const SAYS = { conflict: "conflict", missing: "missing", agree: "agrees" };
  // Each reference with what the answer has of it, and what its values say.
  const why = ({ references, patterns = false }) => {
    const list = make("ul", { class: "why" });
    for (const one of references) {
      const item = make("li", {}, make("span", { dir: "auto", class: "reference" }, ...marked(one.text, one.spans)));
      const words = (one.answer?.length ?? 0) / 2;
      if (!patterns && !one.values) item.append(make("span", { class: "small" }, words ? "" : " — no word of it is in the answer"));
      if (one.values) {
        item.append(make("div", { class: `finding ${one.values.outcome}` },
          make("strong", { textContent: `${one.values.kind}: ${SAYS[one.values.outcome]}` }),
          one.values.reason ? make("bdi", { textContent: ` – ${one.values.reason}` }) : null,
          one.values.outcome !== "conflict" || one.values.reason ? null : make("bdi", { textContent: one.values.conflicting.map(([reference, said]) => ` – ${said}, the reference has ${reference}`).join(";") })));
      }
      list.append(item);
    }
    return list;
  };

  // What decided for the examiner.
  const explanation = (found) => [
    make("p", {}, make("strong", { textContent: `examiner: ${found.verdict ? "accepts" : "rejects"}, ${fixed(found.score, 3)}. ` }), make("bdi", { textContent: found.explanation ?? "" })),
    found.effects.length ? make("ul", { class: "effects" }, ...found.effects.map(([effect, meaning]) => make("li", {}, make("strong", { textContent: `${effect > 0 ? "+" : ""}${fixed(effect, 2)} ` }), meaning))) : "",
  ];

  return { make, fixed, fragment, marked, answer, why, explanation };
})();
