"""Which controls of a page the keyboard cannot reach, or reaches without showing it."""

from __future__ import annotations

from typing import Any

MOST_STEPS = 150
"""Presses of Tab at most; what a long table repeats in later rows is like what came before."""

_MARK = """() => {
  const open = [...document.querySelectorAll("dialog[open]")].pop() || document;
  const groups = new Set();
  let number = 0;
  for (const one of open.querySelectorAll(
      "a[href], button, input, select, textarea, summary, [tabindex]")) {
    if (one.tabIndex < 0 || one.disabled) continue;
    if (!one.checkVisibility({visibilityProperty: true})) continue;
    if (one.type === "radio" && groups.has(one.name)) continue;
    if (one.type === "radio") groups.add(one.name);
    one.dataset.reach = number++;
  }
  document.activeElement.blur();
  for (const one of open.querySelectorAll("[data-reach]"))
    one.dataset.shadow = getComputedStyle(one).boxShadow;
  return number;
}"""
_WHERE = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  let number = one.dataset.reach;
  if (number === undefined && one.type === "radio") {
    const first = document.querySelector(`input[name="${one.name}"][data-reach]`);
    number = first && first.dataset.reach;
  }
  const label = one.labels && one.labels[0];
  const outlined = (s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0;
  const shown = [style, label && getComputedStyle(label)].some(
    (s) => s && (outlined(s) || ![one.dataset.shadow, "none"].includes(s.boxShadow)));
  return {number: number === undefined ? null : +number, shown, html: one.outerHTML.slice(0, 90)};
}"""
_LEFT = """(seen) => [...document.querySelectorAll("[data-reach]")]
  .filter((one) => !seen.includes(+one.dataset.reach)).map((one) => one.outerHTML.slice(0, 90))"""
_CLEAN = """() => {
  document.querySelectorAll("[data-reach]").forEach((one) => {
    delete one.dataset.reach;
    delete one.dataset.shadow;
  });
  document.activeElement.blur();
}"""


def unreachable(page: Any) -> list[str]:
    """Walk the page, or its open dialog, by Tab; what is not reached, and what shows no focus."""
    count = page.evaluate(_MARK)
    seen: set[int] = set()
    faults: list[str] = []
    for _ in range(2 * min(count, MOST_STEPS) + 20):  # boxes that scroll take the focus, too
        page.keyboard.press("Tab")
        found = page.evaluate(_WHERE)
        if found["number"] is None or found["number"] in seen:
            continue
        seen.add(found["number"])
        if not found["shown"]:
            faults.append(f"shows no focus: {found['html']}")
        if len(seen) == count:
            break
    if count <= MOST_STEPS:
        faults += [f"not reached by Tab: {html}" for html in page.evaluate(_LEFT, sorted(seen))]
    page.evaluate(_CLEAN)
    return faults
