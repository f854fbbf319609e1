// The service's own description, read and shown: nothing is loaded from elsewhere.
(async () => {
  const { make } = shown;
  const api = await (await fetch("/openapi.json")).json();
  const find = (schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema) ?? {};
  const kind = (schema) => {
    if (!schema) return "any";
    if (schema.$ref) return schema.$ref.split("/").pop();
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
    const either = schema.anyOf ?? schema.oneOf;
    if (either) return either.map(kind).join(" or ");
    if (schema.type === "array") return `list of ${kind(schema.items)}`;
    return schema.type ?? "any";
  };
  const fields = (schema) => {
    const { properties = {}, required = [] } = find(schema);
    if (!Object.keys(properties).length) return null;
    return make("div", { class: "wide", tabIndex: 0, role: "group", "aria-label": "Fields" }, make("table", { class: "fields" },
      make("thead", {}, make("tr", {}, ...["field", "kind", "meaning"].map((text) => make("th", { scope: "col", textContent: text })))),
      make("tbody", {}, ...Object.entries(properties).map(([name, field]) => make("tr", {},
        make("th", { scope: "row" }, make("code", { textContent: name }), required.includes(name) ? " (needed)" : ""),
        make("td", { textContent: kind(field) }), make("td", { textContent: field.description ?? find(field).description ?? "" }))))));
  };
  const used = (content) => Object.values(content ?? {})[0]?.schema;
  const nested = (schema, seen = new Map()) => {
    const walk = (part) => {
      if (!part || typeof part !== "object") return;
      if (part.$ref) {
        const name = part.$ref.split("/").pop();
        if (!seen.has(name)) { seen.set(name, api.components.schemas[name]); walk(api.components.schemas[name]); }
        return;
      }
      Object.values(part).forEach(walk);
    };
    walk(schema);
    return seen;
  };
  document.getElementById("about").textContent = `${api.info.title} ${api.info.version}. ${api.info.description}`;
  const paths = document.getElementById("paths");
  const contents = make("ul", { class: "contents" });
  paths.append(make("nav", { "aria-label": "Requests" }, contents));
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const body = used(operation.requestBody?.content);
      const good = Object.entries(operation.responses).find(([status]) => status < 400);
      const example = find(body).examples?.[0] ?? null;
      const place = `${method}${path.replace(/\W+/g, "-")}`;
      contents.append(make("li", {}, make("a", { href: `#${place}` }, make("code", { textContent: `${method.toUpperCase()} ${path}` })), operation.summary ? ` ${operation.summary}` : ""));
      const box = make("section", { id: place }, make("h2", {}, make("code", { textContent: `${method.toUpperCase()} ${path}` })),
        make("p", { textContent: [operation.summary, operation.security ? "Needs a key." : ""].filter(Boolean).join(". ") }));
      if (body) box.append(make("h3", { textContent: "Send" }));
      for (const [name, schema] of body ? nested(body) : []) {
        const table = fields(schema);
        if (table) box.append(make("h4", { textContent: name }), table);
      }
      if (example) box.append(make("pre", { tabIndex: 0 }, make("code", { textContent: JSON.stringify(example, null, 2) })));
      if (good) {
        box.append(make("h3", { textContent: `Get (${good[0]})` }));
        for (const [name, schema] of nested(used(good[1].content))) {
          const table = fields(schema);
          if (table) box.append(make("h4", { textContent: name }), table);
        }
      }
      const refused = Object.entries(operation.responses).filter(([status]) => status >= 400);
      if (refused.length) box.append(make("details", {}, make("summary", { textContent: "Refusals" }), make("ul", {}, ...refused.map(([status, one]) => make("li", { textContent: `${status}: ${one.description}` })))));
      paths.append(box);
    }
  }
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = "";
})().catch((error) => { document.getElementById("about").textContent = `The description cannot be read: ${error.message}`; });
