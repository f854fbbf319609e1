"use strict";
// Runs that are going on: asked for twice a second, while the page is seen.
(() => {
  const number = (value) => value.toLocaleString("en");
  const said = (found) => [
    Object.entries(found.judged).map(([judge, count]) => `${judge} ${number(count)}`).join(", "),
    found.answers ? `of ${number(found.answers)} answers read so far` : "",
    found.rate ? `${number(Math.round(found.rate * 10) / 10)} per second` : "",
    found.cost_usd === null ? "" : `$${found.cost_usd.toFixed(4)} spent`,
    found.seconds === null ? "nothing saved yet" : `last saved ${Math.round(found.seconds)} s ago`,
  ].filter(Boolean).join("; ");
  const follow = async (element) => {
    const found = await fetch(element.dataset.running).then((response) => (response.ok ? response.json() : null)).catch(() => null);
    if (found?.state === "done") {
      location.href = element.dataset.then ?? location.href;
      return;
    }
    if (found) {
      const place = element.querySelector(".progress") ?? element;
      place.textContent = `${found.state}: ${said(found)}`;
      const rows = document.getElementById("so-far");
      if (rows && element.dataset.then) {
        [...rows.rows].forEach((row) => {
          const judge = row.cells[0].textContent;
          row.cells[1].textContent = number(found.judged[judge] ?? 0);
          const share = found.accepted[judge];
          row.cells[2].textContent = share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)}%`;
        });
      }
    }
    setTimeout(follow, document.hidden ? 5000 : 500, element);
  };
  document.querySelectorAll("[data-running]").forEach(follow);
})();
