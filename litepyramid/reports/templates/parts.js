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
  const number = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits));
  const brief = (value) => (value < 0 ? `−${brief(-value)}` : value >= 0.995 ? "1" : value.toFixed(2).replace(/^0/, ""));
  const named = (text) => make("bdi", short(text), { title: short(text, 300) });
  const fill = (select, names) => names.forEach(([value, text]) => select.append(make("option", short(text), { value })));
  const signed = (value, digits = 3) => (value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits).replace(/^0/, "")}`);
  // A place in a text as Python counts: a character beyond U+FFFF is one.
  const position = (text, at) => (/[\ud800-\udfff]/.test(text) ? [...text].slice(0, at).join("").length : at);
  const reproduce = () => {
    byId("signature").textContent = data.signature;
    for (const note of data.notes) byId("notes").append(make("li", note));
  };
  return { data, byId, make, shape, short, number, brief, named, fill, signed, position, reproduce };
})();
