"use strict";
(() => {
  const { data, byId, make, shape, short, number, brief, named, apart, fill, signed, position, axisOf, ruler, reproduce } = parts;
  const PAGE = 40;

  const systems = data.systems;
  const order = data.order;
  const names = [...new Set(systems.map((s) => s.system))];
  const inTable = apart(names, window.innerWidth <= 560 ? 14 : 36);
  const inHead = apart(names, 20);
  const inMatrix = apart(names, 28);
  const offsets = [0];
  for (const input of data.inputs) offsets.push(offsets.at(-1) + input.units.length);
  const presence = (s, place) => {
    const value = data.presence[s][place];
    return value < 0 ? null : value / 1000;
  };
  // What each of several judges says, and how far apart they are.
  const opinions = (s, place) => (data.opinions ?? []).map((judge) => judge[s][place] / 1000).filter((value) => value >= 0);
  const range = (values) => (values.length ? Math.max(...values) - Math.min(...values) : 0);
  const label = (s, place) => {
    if (!data.labels) return null;
    const value = data.labels[s][place];
    return value < 0 ? null : value / 2;
  };

  const weighed = (weight) => (weight < 0 ? `penalty −${-weight}` : `weight ${weight}`);
  const [absent, certain] = data.bounds;
  const verdict = (p) => (p === null ? "–" : p >= certain ? "✓" : p <= absent ? "✗" : "?");
  const verdicts = { "✓": "present", "?": "unsure", "✗": "missing", "–": "not judged" };

  // Systems: numbers, and a dot with its interval.
  const drawSystems = () => {
    const table = byId("scores");
    const people = systems.some((s) => s.human != null);
    const head = table.createTHead().insertRow();
    const columns = ["group", "system", "score", "interval", ...data.beside, ""];
    columns.forEach((name, i) => {
      const cell = make("th", name, { scope: "col" });
      if (i > 1 && name) cell.className = "number";
      if (name === "interval") cell.classList.add("optional");
      head.append(cell);
    });
    const values = [...systems.flatMap((s) => [s.low, s.high, s.score, s.human]), data.ceiling];
    const axis = axisOf(values.filter((value) => value != null), true);
    const last = head.lastChild;
    last.className = "plot";
    const legend = make("div", null, { class: "plot-legend" });
    const entry = (mark, kind, text) => {
      const one = make("span", null, { class: "entry" });
      one.append(make("span", mark, { class: kind, "aria-hidden": "true" }), ` ${text}`);
      legend.append(one);
    };
    entry("●", "key-dot", `judge, ${data.percent} interval`);
    if (people) entry("○", "key-human", "people");
    if (data.ceiling !== null) entry("┆", "key-ceiling", `references ${brief(data.ceiling)}`);
    if (axis.zoomed) entry("", "key-zoom", `from ${brief(axis.low)} to ${brief(axis.high)}`);
    last.append(legend, ruler(axis, brief));
    const body = table.createTBody();
    for (const i of order) {
      const s = systems[i];
      const row = body.insertRow();
      row.insertCell().textContent = s.group;
      const name = make("th", null, { scope: "row" });
      name.append(inTable(s.system));
      row.append(name);
      const cells = [number(s.score), `${number(s.low)} – ${number(s.high)}`];
      for (const column of data.beside) cells.push(number(s[column]));
      cells.forEach((text, n) => {
        const cell = row.insertCell();
        cell.textContent = text;
        cell.className = n === 1 ? "number optional" : "number";
      });
      const cell = row.insertCell();
      cell.className = "plot";
      const told = s.low === null ? "" : `, ${data.percent} interval ${number(s.low)} to ${number(s.high)}`;
      const people = s.human != null ? `, people ${number(s.human)}` : "";
      const plot = shape("svg", { role: "img", "aria-label": `${s.system}: ${number(s.score)}${told}${people}` });
      for (const tick of axis.ticks) {
        plot.append(shape("line", { class: "grid", x1: axis.at(tick), x2: axis.at(tick), y1: 0, y2: 24 }));
      }
      plot.append(shape("line", { class: "axis", x1: 0, x2: "100%", y1: 12, y2: 12 }));
      if (data.ceiling !== null) {
        const x = axis.at(data.ceiling);
        plot.append(shape("line", { class: "ceiling", x1: x, x2: x, y1: 0, y2: 24 }));
      }
      if (s.low !== null) plot.append(shape("line", { class: "range", x1: axis.at(s.low), x2: axis.at(s.high), y1: 12, y2: 12 }));
      if (s.score !== null) plot.append(shape("circle", { class: "dot", cx: axis.at(s.score), cy: 12, r: 5 }));
      if (s.human != null) plot.append(shape("circle", { class: "human", cx: axis.at(s.human), cy: 12, r: 4.5 }));
      cell.append(plot);
    }
    byId("systems-note").textContent = data.groups;
    document.body.classList.toggle("many", order.length > 5);
  };

  const drawTags = () => {
    if (!data.tags.length) return;
    const box = make("details");
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const name of ["tag", "system", "inputs", "score", "interval"]) head.append(make("th", name, { scope: "col" }));
    const body = table.createTBody();
    for (const { tag, system, inputs, score, low, high } of data.tags) {
      const row = body.insertRow();
      row.insertCell().append(named(tag));
      row.insertCell().append(named(system));
      for (const text of [inputs, number(score), `${number(low)} – ${number(high)}`]) {
        const cell = row.insertCell();
        cell.textContent = text;
        cell.className = "number";
      }
    }
    box.append(make("summary", "Scores by tag"), table);
    byId("systems").append(box);
  };

  const drawPairs = () => {
    if (!data.pairs) {
      byId("pairs").hidden = byId("to-pairs").hidden = true;
      return;
    }
    const table = byId("matrix");
    const head = table.createTHead().insertRow();
    head.append(make("th", "row minus column", { scope: "col" }));
    order.forEach((_, n) => head.append(make("th", String(n + 1), { scope: "col", class: "number" })));
    const body = table.createTBody();
    order.forEach((i, n) => {
      const row = body.insertRow();
      const name = make("th", `${n + 1}  `, { scope: "row" });
      name.append(inMatrix(systems[i].system));
      row.append(name);
      order.forEach((j, m) => {
        const cell = row.insertCell();
        const found = data.pairs[n][m];
        if (found === null) {
          cell.textContent = "·";
          cell.className = "self";
          return;
        }
        const [difference, clear] = found;
        cell.textContent = `${signed(difference)}${clear ? "*" : ""}`;
        if (clear) cell.className = "yes";
        cell.style.backgroundColor = `rgba(${difference < 0 ? "200, 90, 20" : "0, 96, 168"}, ${Math.min(0.45, Math.abs(difference) * 1.5)})`;
        cell.title = `${short(systems[i].system)} minus ${short(systems[j].system)}`;
      });
    });
  };

  // Facts: every unit of every input, filtered, sorted, a page at a time.
  const facts = data.inputs.flatMap((input, i) => input.units.map((unit, u) => ({ i, u, place: offsets[i] + u, unit })));
  const held = (fact) => systems.map((_, s) => presence(s, fact.place)).filter((p) => p !== null);
  const mean = (values) => values.reduce((sum, v) => sum + v, 0) / Math.max(1, values.length);
  const spread = (values) => {
    const middle = mean(values);
    return mean(values.map((v) => (v - middle) ** 2));
  };
  const against = (fact) => Math.max(0, ...systems.map((_, s) => {
    const human = label(s, fact.place);
    const p = presence(s, fact.place);
    return human === null || p === null ? 0 : Math.abs(human - p);
  }));
  const disagreement = (fact) => Math.max(...systems.map((_, s) => range(opinions(s, fact.place))));
  const inputScore = data.inputs.map((_, i) => {
    const scores = systems.map((s) => s.inputs[i]).filter((value) => value !== null);
    return scores.length ? mean(scores) : 2;
  });
  const state = { shown: [], page: 0, row: 0, column: 0, open: null };

  const drawControls = () => {
    fill(byId("input"), [["", `all ${data.inputs.length} inputs`], ...data.inputs.map((input, i) => [String(i), input.input])]);
    const named = order.map((i) => [String(i), systems[i].system]);
    fill(byId("misses"), named);
    fill(byId("holds"), named);
    if (named.length > 1) byId("misses").value = named.at(-1)[0];
    byId("present").textContent = `✓ present, ≥ ${brief(certain)}`;
    byId("missing").textContent = `✗ missing, ≤ ${brief(absent)}`;
    byId("mark-note").hidden = byId("sort-against").hidden = !data.labels;
    byId("sort-apart").hidden = !data.opinions;
    for (const option of byId("show").options) {
      option.hidden = (option.value === "differ" && !data.labels) || (option.value === "misses" && systems.length < 2);
    }
    byId("filters").addEventListener("input", () => refresh());
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("earlier").addEventListener("click", () => turn(-1));
    byId("later").addEventListener("click", () => turn(1));
    byId("grid").addEventListener("keydown", moved);
    byId("grid").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) open(Number(button.dataset.fact), Number(button.dataset.system), button);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && state.open) close();
    });
    window.addEventListener("hashchange", follow);
  };

  const refresh = () => {
    const show = byId("show").value;
    byId("by-much").hidden = show !== "differ";
    byId("which").hidden = show !== "misses";
    const input = byId("input").value;
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const much = Number(byId("much").value);
    const [missing, holding] = [Number(byId("misses").value), Number(byId("holds").value)];
    const wanted = {
      all: () => true,
      nobody: (fact) => held(fact).every((p) => p < 0.5),
      everybody: (fact) => held(fact).every((p) => p >= 0.5),
      differ: (fact) => against(fact) > much,
      misses: (fact) => presence(missing, fact.place) < 0.5 && presence(holding, fact.place) >= 0.5,
    }[show];
    state.shown = facts.filter((fact) => (input === "" || fact.i === Number(input))
      && words.every((word) => fact.unit.text.toLowerCase().includes(word)) && wanted(fact));
    const key = {
      worst: (fact) => inputScore[fact.i],
      rare: (fact) => mean(held(fact)),
      common: (fact) => -mean(held(fact)),
      split: (fact) => -spread(held(fact)),
      against: (fact) => -against(fact),
      apart: (fact) => -disagreement(fact),
    }[byId("sort").value];
    if (key) {
      const keys = new Map(state.shown.map((fact) => [fact, key(fact)]));
      state.shown.sort((a, b) => keys.get(a) - keys.get(b) || a.place - b.place);
    }
    state.page = state.row = 0;
    drawGrid();
  };
  const turn = (step) => {
    state.page += step;
    state.row = 0;
    drawGrid();
    byId("holder").scrollTop = 0;
  };

  const drawGrid = () => {
    const table = byId("grid");
    table.replaceChildren();
    const rows = state.shown.slice(state.page * PAGE, (state.page + 1) * PAGE);
    byId("found").textContent = `${state.shown.length} of ${facts.length} facts`;
    const pages = Math.max(1, Math.ceil(state.shown.length / PAGE));
    byId("pages").hidden = pages === 1;
    byId("page").textContent = `page ${state.page + 1} of ${pages}`;
    byId("earlier").disabled = state.page === 0;
    byId("later").disabled = state.page + 1 >= pages;
    const dense = order.length > 12;
    table.classList.toggle("dense", dense);
    if (!rows.length) return;
    const head = table.createTHead().insertRow();
    head.append(make("th", "fact", { scope: "col" }));
    for (const s of order) {
      const cell = make("th", null, { scope: "col", class: "system" });
      const name = make("span", null, { title: short(systems[s].system, 300) });
      name.append(inHead(systems[s].system));
      cell.append(name);
      head.append(cell);
    }
    const total = table.tHead.insertRow();
    total.append(make("th", "score", { scope: "row" }));
    for (const s of order) total.insertCell().textContent = dense ? brief(systems[s].score ?? 0) : number(systems[s].score);
    const body = table.createTBody();
    const heat = getComputedStyle(document.documentElement).getPropertyValue("--heat");
    const together = ["order", "worst"].includes(byId("sort").value);
    const several = !together && byId("input").value === "" && data.inputs.length > 1;
    rows.forEach((fact, r) => {
      if (together && (r === 0 || rows[r - 1].i !== fact.i)) {
        const group = body.insertRow();
        group.className = "group";
        const name = make("th", null, { scope: "rowgroup" });
        name.append(make("bdi", short(data.inputs[fact.i].input, 80)));
        group.append(name);
        for (const s of order) group.insertCell().textContent = systems[s].inputs[fact.i] === null ? "–" : brief(systems[s].inputs[fact.i]);
      }
      const row = body.insertRow();
      row.className = "fact";
      const name = make("th", null, { scope: "row" });
      if (several) name.append(make("span", short(data.inputs[fact.i].input, 40), { class: "where" }));
      name.append(make("bdi", short(fact.unit.text, 400)));
      if (fact.unit.weight !== 1) name.append(make("span", weighed(fact.unit.weight), { class: "where" }));
      row.append(name);
      order.forEach((s, c) => {
        const p = presence(s, fact.place);
        const human = label(s, fact.place);
        const sign = human === null ? "" : human === 1 ? "●" : human === 0 ? "○" : "◐";
        const button = make("button", `${verdict(p)}${p === null || dense ? "" : ` ${brief(p)}`}${sign}`, {
          type: "button",
          tabindex: r === state.row && c === state.column ? "0" : "-1",
          "aria-pressed": String(Boolean(state.open && state.open.place === fact.place && state.open.s === s)),
          title: dense && p !== null ? number(p, 2) : "",
          "aria-label": `${short(systems[s].system, 40)}: ${verdicts[verdict(p)]}${p === null ? "" : ` ${number(p, 2)}`}${human === null ? "" : `, people ${human}`}`,
        });
        button.dataset.fact = fact.place;
        button.dataset.system = s;
        if (p !== null) button.style.backgroundColor = `rgba(${heat}, ${0.04 + 0.9 * p})`;
        if (p > 0.82) button.className = "strong";
        const cell = row.insertCell();
        cell.append(button);
      });
    });
  };
  const moved = (event) => {
    const button = event.target.closest("button");
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!button || !(step || event.key === "Home" || event.key === "End")) return;
    event.preventDefault();
    const rows = [...byId("grid").tBodies[0].querySelectorAll("tr.fact")];
    const cell = button.parentNode;
    const column = step ? cell.cellIndex - 1 + step[1] : event.key === "Home" ? 0 : order.length - 1;
    const row = rows.indexOf(cell.parentNode) + (step ? step[0] : 0);
    focusOn(Math.min(rows.length - 1, Math.max(0, row)), Math.min(order.length - 1, Math.max(0, column)));
  };
  const focusOn = (row, column) => {
    const old = byId("grid").querySelector('button[tabindex="0"]');
    if (old) old.tabIndex = -1;
    [state.row, state.column] = [row, column];
    const button = byId("grid").tBodies[0].querySelectorAll("tr.fact")[row].cells[column + 1].firstChild;
    button.tabIndex = 0;
    button.focus();
  };

  // One unit in one summary, and in the others.
  const marked = (parent, text, [start, end]) => {
    parent.append(text.slice(0, start));
    if (end > start) parent.append(make("mark", text.slice(start, end)));
    parent.append(text.slice(end));
  };
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  // The places of the words of a text that stand in another in the same order, runs before strays.
  const inOrder = (text, other) => {
    const best = Array.from({ length: text.length + 1 }, () => new Float32Array(other.length + 1));
    const alike = (i, j) => i < text.length && j < other.length && text[i] === other[j];
    const paired = (i, j) => (alike(i, j) ? best[i + 1][j + 1] + (alike(i + 1, j + 1) ? 1.25 : 1) : 0);
    for (let i = text.length - 1; i >= 0; i -= 1) {
      for (let j = other.length - 1; j >= 0; j -= 1) best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], paired(i, j));
    }
    const [places, others] = [[], []];
    for (let i = 0, j = 0; i < text.length && j < other.length;) {
      if (alike(i, j) && best[i][j] === Math.fround(paired(i, j))) { places.push(i); others.push(j); i += 1; j += 1; }
      else if (best[i][j] === best[i + 1][j]) i += 1;
      else j += 1;
    }
    return [places, others];
  };
  const underlined = (parent, text, unit) => {
    const pieces = text.split(/([\p{L}\p{N}]+)/u);
    const said = pieces.filter((_, n) => n % 2).map((word) => word.toLowerCase());
    const own = words(unit);
    const [places, used] = inOrder(said, own);
    const taken = new Set(places);
    // A noun that the unit has behind its verb ("the gun he used") is sought among what is left.
    const left = said.map((word, i) => (taken.has(i) ? null : word));
    for (const i of inOrder(left, own.filter((_, j) => !used.includes(j)))[0]) taken.add(i);
    let run = parent;
    pieces.forEach((piece, n) => {
      const inside = n % 2 ? taken.has((n - 1) / 2) : taken.has(n / 2 - 1) && taken.has(n / 2);
      if (inside !== (run !== parent)) run = inside ? parent.appendChild(make("b", null, { class: "word" })) : parent;
      run.append(piece);
    });
  };
  const open = (place, s, from, why = "") => {
    const fact = facts[place];
    state.open = { place, s, from };
    for (const button of byId("grid").querySelectorAll("button")) {
      const chosen = Number(button.dataset.fact) === place && Number(button.dataset.system) === s;
      button.setAttribute("aria-pressed", String(chosen));
    }
    const input = data.inputs[fact.i];
    const box = byId("detail");
    box.replaceChildren();
    box.hidden = false;
    document.querySelector(".split").classList.add("open");
    const head = make("div", null, { class: "head" });
    const title = make("h3", null, { id: "detail-title", tabindex: "-1" });
    title.append(`${fact.unit.kind === "stu" ? "STU" : "SCU"} ${fact.u + 1} of ${short(input.input, 60)}`);
    const button = make("button", "Close", { type: "button" });
    button.addEventListener("click", close);
    head.append(title, button);
    const unit = make("p", null, { class: "unit" });
    unit.append(make("bdi", fact.unit.text));
    box.append(head, unit);
    if (why) box.append(make("p", why, { class: "hint" }));
    const sentences = input.references ? input.references[fact.unit.reference ?? 0] : null;
    if (sentences) {
      const one = fact.unit.sentence != null && fact.unit.sentence < sentences.length;
      box.append(make("h3", one ? "The reference's sentence" : "The reference"));
      const text = make("p", null, { class: "text", dir: "auto" });
      underlined(text, one ? sentences[fact.unit.sentence] : sentences.join(" "), fact.unit.text);
      box.append(text);
    }
    if (fact.unit.weight !== 1) box.append(make("p", weighed(fact.unit.weight), { class: "hint" }));
    if (input.question) box.append(make("h3", "The question"), make("p", input.question, { class: "text", dir: "auto" }));
    const p = presence(s, place);
    const human = label(s, place);
    const line = make("h3");
    line.append("In the summary of ", named(systems[s].system), `: ${verdicts[verdict(p)]}${p === null ? "" : ` (${number(p, 2)})`}`);
    if (human !== null) line.append(human === 1 ? " · people: present" : human === 0 ? " · people: absent" : " · people: in part");
    box.append(line);
    const each = opinions(s, place);
    if (each.length > 1) {
      const values = each.map((value) => value.toFixed(2)).join(", ");
      box.append(make("p", `${each.length} judges: ${values}; ${range(each).toFixed(2)} apart`, { class: "hint", id: "opinions" }));
    }
    const seen = data.evidence && data.evidence[s][place];
    if (data.texts) {
      const text = make("p", null, { class: "text", dir: "auto" });
      const summary = data.texts[s][fact.i];
      marked(text, summary, seen ? [position(summary, seen[0]), position(summary, seen[1])] : [0, 0]);
      box.append(text);
      if (!summary.trim()) text.append(make("em", "The summary is empty."));
      else if (data.evidence && !seen) box.append(make("p", "The judge gave no sentence as evidence.", { class: "hint" }));
      else if (!data.evidence) box.append(make("p", "Saved without the judge's evidence.", { class: "hint" }));
    } else box.append(make("p", "Scored from presence alone, without the summaries' texts.", { class: "hint" }));
    if (seen && seen[2]) box.append(make("p", `Conflict: ${seen[2]}`, { class: "conflict" }));
    if (seen && seen[3]) box.append(make("p", `Not in that sentence: ${seen[3]}`, { class: "hint" }));
    if (order.length > 1) box.append(make("h3", "All systems"));
    const table = make("table", null, { class: "bars" });
    const body = table.createTBody();
    for (const other of order.length > 1 ? order : []) {
      const row = body.insertRow();
      if (other === s) row.setAttribute("aria-current", "true");
      const name = make("th", null, { scope: "row" });
      const go = make("button", null, { type: "button" });
      go.append(named(systems[other].system));
      go.addEventListener("click", () => open(place, other, state.open.from));
      name.append(go);
      const value = presence(other, place);
      const told = label(other, place);
      const bar = row.insertCell();
      bar.append(make("meter", null, { min: 0, max: 1, value: value ?? 0, "aria-label": `${value ?? "not judged"}` }));
      row.prepend(name);
      row.insertCell().textContent = number(value, 2);
      row.insertCell().textContent = told === null ? "" : told === 1 ? "●" : told === 0 ? "○" : "◐";
    }
    box.append(table);
    if (why) return; // nobody asked: neither the address nor the focus moves
    const hash = `#fact=${encodeURIComponent(input.input)}/${fact.u + 1}/${encodeURIComponent(systems[s].system)}`;
    if (location.hash !== hash && hash.length < 2000) history.replaceState(null, "", hash);
    title.focus({ preventScroll: window.innerWidth >= 1000 });
  };
  const close = () => {
    const from = state.open && state.open.from;
    state.open = null;
    byId("detail").hidden = true;
    document.querySelector(".split").classList.remove("open");
    for (const button of byId("grid").querySelectorAll('[aria-pressed="true"]')) button.setAttribute("aria-pressed", "false");
    if (from && from.isConnected) from.focus();
    history.replaceState(null, "", "#facts");
  };
  const follow = () => {
    const [name, unit, system] = location.hash.startsWith("#fact=") ? location.hash.slice(6).split("/") : [];
    if (name === undefined) return;
    let wanted;
    try {
      wanted = [decodeURIComponent(name), system === undefined ? null : decodeURIComponent(system)];
    } catch {
      return;
    }
    const i = data.inputs.findIndex((input) => input.input === wanted[0]);
    if (i < 0) return;
    const u = Math.min(Math.max(1, Number(unit) || 1), data.inputs[i].units.length) - 1;
    const s = Math.max(wanted[1] === null ? order[0] : systems.findIndex((x) => x.system === wanted[1]), 0);
    byId("input").value = String(i);
    byId("search").value = "";
    byId("show").value = "all";
    byId("sort").value = "order";
    refresh();
    state.page = Math.floor(u / PAGE);
    drawGrid();
    const place = offsets[i] + u;
    const button = [...byId("grid").querySelectorAll("button")].find((b) => Number(b.dataset.fact) === place && Number(b.dataset.system) === s);
    byId("facts").scrollIntoView();
    open(place, s, button);
  };

  // The right side of a wide window shows the fact that differs most from the start.
  const openWhereSystemsDiffer = () => {
    if (state.open || window.innerWidth < 1200 || !facts.length) return;
    let chosen = facts[0];
    for (const fact of facts) if (spread(held(fact)) > spread(held(chosen)) + 1e-9) chosen = fact;
    const scored = order.filter((s) => presence(s, chosen.place) !== null);
    if (!scored.length) return;
    const best = scored.reduce((a, b) => (presence(b, chosen.place) > presence(a, chosen.place) ? b : a));
    open(chosen.place, best, null, "Open from the start: on this fact the systems differ most.");
  };

  const drawCalibration = () => {
    if (!data.calibration) return;
    byId("calibration").hidden = byId("to-calibration").hidden = false;
    const box = byId("reliability");
    const plot = shape("svg", { viewBox: "0 0 260 240", role: "img", "aria-label": "Share of facts that people find, by the judge's presence" });
    const x = (value) => 36 + 210 * value;
    const y = (value) => 205 - 190 * value;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      plot.append(shape("line", { class: "axis", x1: x(tick), x2: x(tick), y1: y(0), y2: y(1) }));
      plot.append(shape("line", { class: "axis", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }));
      plot.append(shape("text", { x: x(tick), y: 219, "text-anchor": "middle" }, tick ? brief(tick) : "0"));
      plot.append(shape("text", { x: 30, y: y(tick) + 4, "text-anchor": "end" }, tick ? brief(tick) : "0"));
    }
    plot.append(shape("text", { x: x(0.5), y: 236, "text-anchor": "middle" }, "presence according to the judge"));
    plot.append(shape("text", { transform: "translate(9 110) rotate(-90)", "text-anchor": "middle" }, "share found by people"));
    plot.append(shape("line", { class: "axis", "stroke-dasharray": "4 3", "stroke-width": 2, x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    const most = Math.max(...data.calibration.bins.map((bin) => bin[2]));
    for (const [given, share, count] of data.calibration.bins) {
      plot.append(shape("circle", { class: "dot", cx: x(given), cy: y(share), r: 2.5 + 6 * Math.sqrt(count / most) }));
    }
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const name of ["presence", "found by people", "pairs"]) head.append(make("th", name, { scope: "col" }));
    const body = table.createTBody();
    for (const [given, share, count] of data.calibration.bins) {
      const row = body.insertRow();
      for (const text of [number(given, 2), number(share, 2), String(count)]) {
        const cell = row.insertCell();
        cell.textContent = text;
        cell.className = "number";
      }
    }
    const { pairs, auc, brier, constant } = data.calibration;
    const summary = `${pairs.toLocaleString("en")} labelled pairs. Area under the ROC curve ${number(auc)}, Brier score ${number(brier)} (a constant mean: ${number(constant)}). `
      + "On the dashed line people find as large a share of the facts as the judge's presence says. A larger dot stands for more pairs.";
    box.append(plot, table, make("p", summary, { class: "hint" }));
  };

  byId("verdict").textContent = data.verdict;
  drawSystems();
  drawTags();
  drawPairs();
  drawControls();
  refresh();
  drawCalibration();
  reproduce();
  follow();
  openWhereSystemsDiffer();
})();
