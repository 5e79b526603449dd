"use strict";
// What the pages of scores and of changes share.
const parts = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, attributes = {}) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const shape = (tag, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const short = (text, most = 60) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  // One form of number, on the pages as in the terminal: 0.086, 1.00, −0.021.
  const number = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
  const brief = (value) => (value < 0 ? `−${brief(-value)}` : value >= 0.995 ? "1" : value.toFixed(2));
  // A long name keeps its end too: runs of one model differ there.
  const name = (text, most = 60) => (text.length > most ? `${text.slice(0, most / 2)}…${text.slice(1 - most / 2)}` : text);
  // Shortened names that stay apart: as many characters as it takes.
  const apart = (names, most) => {
    const shown = new Map();
    for (let length = most; shown.size < names.length; length += 4) {
      const short = names.map((text) => name(text, length));
      names.forEach((text, n) => {
        const alone = short.every((other, m) => m === n || other !== short[n]);
        if (!shown.has(text) && (alone || length > 400)) shown.set(text, short[n]);
      });
    }
    return (text) => make("bdi", shown.get(text), { title: short(text, 300) });
  };
  const named = (text, most = 60) => make("bdi", name(text, most), { title: short(text, 300) });
  const fill = (select, names) => names.forEach(([value, text]) => select.append(make("option", name(text), { value })));
  const signed = (value, digits = 3) => `${value > 0 ? "+" : ""}${number(value, digits)}`;
  // A place in a text as Python counts: a character beyond U+FFFF is one.
  const position = (text, at) => (/[\ud800-\udfff]/.test(text) ? [...text].slice(0, at).join("").length : at);
  // An axis for values: from 0 to 1 where scores are spread, or the part where they are.
  const axisOf = (values, scores) => {
    const least = Math.min(...values, scores ? 1 : 0);
    const most = Math.max(...values, 0);
    const whole = scores && least >= 0 && most <= 1 && most - least > 0.4;
    const spread = Math.max(most - least, 0.02);
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5].find((size) => spread / size <= 5) ?? spread / 4;
    const low = whole ? 0 : Math.floor(least / step + 1e-9) * step;
    const high = whole ? 1 : Math.max(Math.ceil(most / step - 1e-9) * step, low + step);
    const ticks = [];
    const gap = whole ? 0.25 : step;
    for (let n = 0; low + n * gap <= high + 1e-9; n += 1) ticks.push(low + n * gap);
    // A little room on both sides, so that dots at the ends are whole.
    const at = (value) => `${2 + (96 * (value - low)) / (high - low)}%`;
    return { low, high, ticks, at, zoomed: !whole };
  };
  const ruler = (axis, form) => {
    const drawn = shape("svg", { class: "ruler", "aria-hidden": "true" });
    for (const tick of axis.ticks) {
      const text = Math.abs(tick) < 1e-9 ? "0" : form(tick);
      drawn.append(shape("line", { class: "tick", x1: axis.at(tick), x2: axis.at(tick), y1: 14, y2: 18 }));
      drawn.append(shape("text", { x: axis.at(tick), y: 11, "text-anchor": "middle" }, text));
    }
    return drawn;
  };
  const reproduce = () => {
    byId("signature").textContent = data.signature;
    for (const note of data.notes) if (note !== data.groups) byId("notes").append(make("li", note));
  };
  return { data, byId, make, shape, short, number, brief, named, apart, fill, signed, position, axisOf, ruler, reproduce };
})();
