(() => {
  const { data, byId, make, shape, short, number, named, fill, signed, position, axisOf, ruler, reproduce } = parts;
  const PAGE = 50;
  const LONGEST = 4e6; // cells of a table of common words
  const { systems } = data;
  const textsOf = (fact) => {
    const both = systems[fact.s].texts[fact.input];
    return both ? [both[0], both[1] ?? both[0]] : null;
  };
  const facts = data.facts.map(([s, input, text, before, after, lost, ...spans], n) => {
    const fact = { n, s, input, text, before, after, lost };
    const texts = textsOf(fact);
    return { ...fact, spans: spans.map((span, side) => span.map((at) => (texts ? position(texts[side], at) : 0))) };
  });
  const change = (fact) => systems[fact.s].by_input[fact.input] ?? [0, null];
  facts.sort((a, b) => change(a)[0] - change(b)[0] || a.s - b.s || a.input.localeCompare(b.input) || a.n - b.n);
  const panel = byId("detail");
  const state = { shown: [], page: 0, open: null };

  // The words of two texts that the other one has not, by the longest common sequence.
  const tokens = (text) => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
  const differing = (one, two) => {
    const flags = changedWords(one, two);
    [one, two].forEach((words, side) => words.forEach((word, i) => {
      if (!word.trim()) flags[side][i] = Boolean(flags[side][i - 1] && flags[side][i + 1]);
    }));
    return flags;
  };
  const changedWords = (one, two) => {
    const flags = [one.map(() => true), two.map(() => true)];
    let start = 0;
    let [n, m] = [one.length, two.length];
    const same = (i, j) => { flags[0][i] = flags[1][j] = false; };
    while (start < n && start < m && one[start] === two[start]) { same(start, start); start += 1; }
    while (n > start && m > start && one[n - 1] === two[m - 1]) { n -= 1; m -= 1; same(n, m); }
    const [rows, columns] = [n - start, m - start];
    if (rows * columns > LONGEST) {
      const [left, right] = [new Set(one), new Set(two)];
      return [one.map((word) => !right.has(word)), two.map((word) => !left.has(word))];
    }
    const width = columns + 1;
    const common = new Uint16Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; i -= 1) {
      for (let j = columns - 1; j >= 0; j -= 1) {
        common[i * width + j] = one[start + i] === two[start + j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < rows && j < columns;) {
      if (one[start + i] === two[start + j]) { same(start + i, start + j); i += 1; j += 1; }
      else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return flags;
  };
  // Both texts into their parents: what differs in del and ins, the sentence of the fact in mark.
  const compared = (parents, texts, spans = [[0, 0], [0, 0]]) => {
    const words = texts.map(tokens);
    differing(...words).forEach((flags, side) => {
      let at = 0;
      let [into, run] = [parents[side], null];
      words[side].forEach((word, i) => {
        const inside = at >= spans[side][0] && at < spans[side][1];
        if (inside !== (into !== parents[side])) {
          into = inside ? parents[side].appendChild(make("mark")) : parents[side];
          run = null;
        }
        if (flags[i]) {
          run ??= into.appendChild(make(side ? "ins" : "del"));
          run.append(word);
        } else {
          run = null;
          into.append(word);
        }
        at += word.length;
      });
    });
  };
  const alike = (one, two) => {
    const [left, right] = [one, two].map((text) => new Set(tokens(text.toLowerCase()).filter((word) => /[\p{L}\p{N}]/u.test(word))));
    return 2 * [...left].filter((word) => right.has(word)).length >= Math.min(left.size, right.size);
  };
  const quote = (fact, side) => {
    const texts = textsOf(fact);
    return texts ? texts[side].slice(...fact.spans[side]) : "";
  };

  const drawFacts = () => {
    const box = byId("changes");
    document.querySelector(".split").append(panel);
    box.replaceChildren();
    const rows = state.shown.slice(state.page * PAGE, (state.page + 1) * PAGE);
    const pages = Math.max(1, Math.ceil(state.shown.length / PAGE));
    byId("found").textContent = `${state.shown.length} of ${facts.length} facts that changed`;
    byId("pages").hidden = pages === 1;
    byId("page").textContent = `page ${state.page + 1} of ${pages}`;
    byId("earlier").disabled = state.page === 0;
    byId("later").disabled = state.page + 1 >= pages;
    rows.forEach((fact, r) => {
      const before = rows[r - 1];
      if (!before || before.input !== fact.input || before.s !== fact.s) {
        const [difference, share] = change(fact);
        const head = make("h3");
        head.append(named(fact.input), systems.length > 1 ? " · " : "", systems.length > 1 ? named(systems[fact.s].name) : "",
          ` ${signed(difference)}${share === null ? "" : ` (${String(Math.round(100 * share)).replace("-", "−")} % of the difference)`}`);
        box.append(head);
      }
      const button = make("button", null, {
        type: "button", class: fact.lost ? "lost" : "gained", tabindex: r ? "-1" : "0", "aria-pressed": String(state.open === fact),
      });
      button.dataset.fact = fact.n;
      const text = make("span", null, { class: "fact-text" });
      text.append(make("bdi", short(fact.text, 400)), make("small", fact.lost ? " lost" : " gained"));
      button.append(make("span", fact.lost ? "−" : "+", { class: "sign", "aria-hidden": "true" }), text,
        make("span", `${number(fact.before, 2)} → ${number(fact.after, 2)}`, { class: "presence" }));
      const sentences = [0, 1].map((side) => short(quote(fact, side), 300));
      const same = sentences[0] === sentences[1];
      const near = sentences[0] && sentences[1] && alike(...sentences);
      const lines = sentences.map((sentence) => make("bdi", near ? null : sentence));
      if (near) compared(lines, sentences);
      lines.forEach((line, side) => {
        if (!textsOf(fact) || (same && side)) return;
        const row = make("span", same ? (sentences[side] ? "same sentence: " : "before and now: ") : side ? "now: " : "before: ", { class: "sentence" });
        row.append(sentences[side] ? line : make("em", "no sentence says so"));
        button.append(row);
      });
      box.append(button);
    });
  };
  const refresh = () => {
    const [show, system, input] = ["show", "system", "input"].map((id) => byId(id).value);
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    state.shown = facts.filter((fact) => (show === "all" || fact.lost === (show === "lost"))
      && (system === "" || fact.s === Number(system)) && (input === "" || fact.input === input)
      && words.every((word) => fact.text.toLowerCase().includes(word)));
    state.page = 0;
    drawFacts();
  };
  const turn = (step) => {
    state.page += step;
    drawFacts();
    byId("facts").scrollIntoView();
  };
  const link = (fact) => `#fact=${encodeURIComponent(fact.input)}/${encodeURIComponent(fact.text)}/${encodeURIComponent(systems[fact.s].name)}`;
  const buttons = () => [...byId("changes").querySelectorAll("button[data-fact]")];
  const press = () => buttons().forEach((b) => b.setAttribute("aria-pressed", String(Boolean(state.open) && Number(b.dataset.fact) === state.open.n)));

  const open = (fact) => {
    state.open = fact;
    press();
    const box = panel;
    box.replaceChildren();
    box.hidden = false;
    const row = buttons().find((b) => Number(b.dataset.fact) === fact.n);
    if (window.innerWidth < 1000 && row) row.after(box);
    else document.querySelector(".split").append(box);
    document.querySelector(".split").classList.add("open");
    const head = make("div", null, { class: "head" });
    const title = make("h3", `A fact of ${short(fact.input)}, ${fact.lost ? "lost" : "gained"} by `, { id: "detail-title", tabindex: "-1" });
    title.append(named(systems[fact.s].name));
    const button = make("button", "Close", { type: "button" });
    button.addEventListener("click", close);
    head.append(title, button);
    const unit = make("p", null, { class: "unit" });
    unit.append(make("bdi", fact.text));
    const sides = make("div", null, { class: "sides" });
    const texts = textsOf(fact);
    const parents = [0, 1].map((side) => {
      const part = make("div");
      part.append(make("h3", `${side ? "Now" : "Before"}: presence ${number(side ? fact.after : fact.before, 2)}`));
      const text = make("p", null, { class: "text", dir: "auto" });
      part.append(text);
      if (texts && !texts[side].trim()) text.append(make("em", "The summary is empty."));
      sides.append(part);
      return text;
    });
    if (texts) compared(parents, texts, fact.spans);
    else sides.replaceChildren(make("p", "Saved without the summaries' texts.", { class: "hint" }));
    box.append(head, unit, sides);
    if (texts && texts[0] === texts[1]) box.append(make("p", "The text is the same in both runs: the judge changed its mind.", { class: "conflict" }));
    const hash = link(fact);
    if (location.hash !== hash && hash.length < 2000) history.replaceState(null, "", hash);
    title.focus({ preventScroll: true });
    if (window.innerWidth < 1000) box.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    const from = buttons().find((b) => state.open && Number(b.dataset.fact) === state.open.n);
    state.open = null;
    panel.hidden = true;
    document.querySelector(".split").classList.remove("open");
    press();
    if (from) from.focus();
    history.replaceState(null, "", "#facts");
  };
  const follow = () => {
    const fact = facts.find((one) => link(one) === location.hash);
    if (!fact) return;
    for (const id of ["system", "input", "search"]) byId(id).value = "";
    byId("show").value = "all";
    refresh();
    state.page = Math.floor(state.shown.indexOf(fact) / PAGE);
    drawFacts();
    open(fact);
  };

  const rowOf = (table, cells, tag = "td") => {
    const row = table.insertRow();
    cells.forEach((text, i) => {
      const cell = make(i && tag === "td" ? "td" : "th", i || tag === "th" ? text : null, { class: i ? "number" : "", scope: tag === "th" ? "col" : "row" });
      if (!i && tag === "td") cell.append(named(text));
      row.append(cell);
    });
    return row;
  };
  const p = (value) => (value < 0.001 ? "<.001" : number(value));
  const drawSystems = () => {
    const table = byId("scores");
    const people = ["system", "before", "now", "diff.", "interval", systems.length > 1 ? "p (Holm)" : "p", "lost", "gained", "inputs +/−"];
    const head = rowOf(table.createTHead(), people, "th");
    const axis = axisOf(systems.flatMap((s) => [s.low, s.high]).filter((value) => value !== null));
    const { at } = axis;
    const last = make("th", "difference, with its interval", { class: "plot optional" });
    last.append(ruler(axis, (tick) => signed(tick, 2)));
    head.append(last);
    for (const i of [1, 4, 8]) head.cells[i].classList.add("optional");
    const body = table.createTBody();
    for (const s of systems) {
      const row = rowOf(body, [s.name, number(s.old), number(s.new), signed(s.difference) + (s.clear ? "*" : ""),
        `${signed(s.low)} to ${signed(s.high)}`, p(s.p_holm), String(s.lost), String(s.gained), `${s.better}/${s.worse} of ${s.inputs}`]);
      for (const i of [1, 4, 8]) row.cells[i].classList.add("optional");
      const cell = row.insertCell();
      cell.className = "plot optional";
      const plot = shape("svg", { "aria-hidden": "true" });
      plot.append(shape("line", { class: "axis", x1: at(0), x2: at(0), y1: 0, y2: 24 }),
        shape("line", { class: "range", x1: at(s.low), x2: at(s.high), y1: 12, y2: 12 }),
        shape("circle", { class: "dot", cx: at(s.difference), cy: 12, r: 5 }));
      cell.append(plot);
    }
    const groups = systems.flatMap((s) => s.by_group.map((group) => [s, group]));
    byId("groups").hidden = byId("to-groups").hidden = !groups.length;
    rowOf(byId("by-group").createTHead(), ["system", "group", "inputs", "difference", "interval", "p (Holm)"], "th");
    const rows = byId("by-group").createTBody();
    for (const [s, { group, inputs, difference, low, high, p_holm }] of groups) {
      rowOf(rows, [s.name, short(group), String(inputs), signed(difference), `${signed(low)} to ${signed(high)}`, p(p_holm)]);
    }
  };

  data.title.split("`").forEach((piece, i) => byId("verdict").append(i % 2 ? make("b", piece) : piece));
  byId("failures").hidden = !data.failures.length;
  for (const reason of data.failures) byId("failures").append(make("li", reason));
  fill(byId("system"), [["", `all ${systems.length}`], ...systems.map((s, i) => [String(i), s.name])]);
  fill(byId("input"), [["", "all"], ...[...new Set(facts.map((fact) => fact.input))].map((name) => [name, name])]);
  byId("by-system").hidden = systems.length < 2;
  byId("filters").addEventListener("input", refresh);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("earlier").addEventListener("click", () => turn(-1));
  byId("later").addEventListener("click", () => turn(1));
  byId("changes").addEventListener("click", (event) => {
    const button = event.target.closest("button[data-fact]");
    if (button) open(facts.find((fact) => fact.n === Number(button.dataset.fact)));
  });
  byId("changes").addEventListener("keydown", (event) => {
    const all = buttons();
    const next = all[all.indexOf(document.activeElement) + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
    if (!next) return;
    event.preventDefault();
    for (const one of all) one.tabIndex = one === next ? 0 : -1;
    next.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.open) close();
  });
  window.addEventListener("hashchange", follow);
  drawSystems();
  refresh();
  reproduce();
  follow();
})();
