"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const judging = data.kind === "judging";
  const tasks = data.tasks;
  const prefix = "litepyramid:" + data.digest + ":";
  let worker = "";
  let answers = {};
  let at = 0;
  let stored = true;
  let touched = new Set(); // tasks answered in this tab: another tab may have answered others

  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const say = (text) => { $("status").textContent = text; };

  // ------------------------------------------------------------------ state
  const recall = (key) => {
    try { return localStorage.getItem(key); } catch { stored = false; return null; }
  };
  const remember = (key, value) => {
    try { localStorage.setItem(key, value); } catch { stored = false; }
  };
  const saved = () => {
    try { return JSON.parse(recall(prefix + "of:" + worker)); } catch { return null; }
  };
  const keep = (task) => {
    if (task) { touched.add(task.id); say(""); }
    const elsewhere = (saved() || {}).answers || {};
    for (const id of Object.keys(elsewhere)) if (!touched.has(id)) answers[id] = Object.assign(answers[id] || {}, elsewhere[id]);
    remember(prefix + "of:" + worker, JSON.stringify({ answers, at }));
    if (!stored) say("This browser does not let the page save your answers: download them before you close it.");
    progress();
  };
  const known = () => {
    try { return JSON.parse(recall(prefix + "workers")) || []; } catch { return []; }
  };
  const answerOf = (task) =>
    answers[task.id] || (answers[task.id] = judging ? { presence: {} } : { scus: [], no_fact: false, finished: false });
  const answered = (task) => {
    const answer = answers[task.id];
    if (!answer) return 0;
    return judging ? Object.keys(answer.presence).length : answer.scus.length || Number(answer.no_fact === true);
  };
  const finished = (task) => {
    const answer = answers[task.id];
    if (!answer) return false;
    return judging ? answered(task) === task.units.length : answer.finished && answered(task) > 0;
  };

  // ------------------------------------------------------------------ start
  const begin = (name) => {
    worker = name;
    answers = {};
    at = 0;
    touched = new Set();
    try {
      const kept = JSON.parse(recall(prefix + "of:" + worker));
      if (kept) { answers = kept.answers || {}; at = Math.min(kept.at || 0, tasks.length - 1); }
    } catch { say("The answers saved in this browser could not be read; starting over."); }
    remember(prefix + "workers", JSON.stringify([...new Set([worker, ...known()])]));
    remember(prefix + "last", worker);
    $("who").textContent = worker;
    $("guide").open = false; // read on the first screen
    show("work");
    draw();
  };
  const show = (id) => {
    for (const section of ["start", "work", "end"]) $(section).hidden = section !== id;
    $("actions").hidden = $("progress").hidden = id === "start";
  };
  const start = () => {
    remember(prefix + "last", "");
    show("start");
    const names = known();
    $("size").textContent = tasks.length + (tasks.length === 1 ? " task" : " tasks") + ".";
    $("known").textContent = names.length ? "Already started here: " + names.join(", ") + "." : "";
    $("name").value = "";
    $("name").focus();
  };

  // ------------------------------------------------------------------ drawing
  const progress = () => {
    const done = tasks.filter(finished).length;
    $("meter").max = tasks.length;
    $("meter").value = done;
    $("count").textContent = done + " of " + tasks.length + " done";
    $("next").textContent = at + 1 < tasks.length || done < tasks.length ? "Next →" : "Finish";
    $("back").disabled = at === 0;
  };
  const draw = (focus = true) => {
    const task = tasks[at];
    const article = $("task");
    article.className = data.kind;
    article.replaceChildren(make("h2", { id: "position", textContent: "Task " + (at + 1) + " of " + tasks.length }));
    if (task.question) article.append(make("p", { className: "question", id: "question", textContent: task.question }));
    if (judging) drawJudging(task, article); else drawWriting(task, article);
    progress();
    if (!focus) return;
    const first = judging
      ? ([...article.querySelectorAll("fieldset")].find((x) => !x.querySelector(":checked")) || article).querySelector("input")
      : [...article.querySelectorAll("ol textarea")].pop();
    window.scrollTo(0, 0);
    if (first && !$("guide").open) first.focus({ preventScroll: true }); else article.focus({ preventScroll: true });
  };
  const drawJudging = (task, article) => {
    const answer = answerOf(task);
    article.append(make("p", { className: "text", id: "summary", textContent: task.summary }));
    const units = make("div");
    article.append(units);
    task.units.forEach((unit, i) => {
      const choice = (value, name) => {
        const meaning = { yes: true, no: false, unsure: null }[value];
        const input = make("input", { type: "radio", name: "presence_" + i, value, checked: answer.presence[i] === meaning });
        input.addEventListener("change", () => { answer.presence[i] = meaning; keep(task); });
        return make("label", { className: value }, input, name);
      };
      const fieldset = make("fieldset", {}, make("legend", { textContent: unit }),
        make("div", { className: "choices" }, choice("yes", "Yes"), choice("no", "No"), choice("unsure", "Skip")));
      fieldset.dataset.unit = i;
      units.append(fieldset);
    });
  };
  const drawWriting = (task, article) => {
    const answer = answerOf(task);
    const text = make("p", { className: "text context", id: "sentence" });
    if (task.before) text.append(task.before + " ");
    text.append(make("mark", { textContent: task.text }));
    if (task.after) text.append(" " + task.after);
    const list = make("ol", { className: "facts" });
    const collect = () => {
      answer.scus = [...list.querySelectorAll("textarea")].map((x) => x.value.trim().replace(/\s+/g, " ")).filter(Boolean);
      if (!answer.scus.length || answer.no_fact) answer.finished = false;
      if (answer.scus.length) none.checked = false;
      answer.no_fact = none.checked;
      keep(task);
    };
    const none = make("input", { type: "checkbox", id: "none", checked: answer.no_fact === true });
    none.addEventListener("change", () => {
      const facts = none.checked && answer.scus.length > 0;
      collect();
      if (facts) say("Remove the facts first if the sentence states none.");
    });
    const line = (value, after) => {
      const input = make("textarea", { value, rows: 1 });
      const fit = () => { input.style.height = "auto"; input.style.height = input.scrollHeight + 2 + "px"; };
      const oneLine = () => input.scrollHeight < 1.8 * parseFloat(getComputedStyle(input).lineHeight) + 12;
      requestAnimationFrame(fit);
      input.setAttribute("aria-label", "Fact");
      input.setAttribute("aria-describedby", "sentence");
      const drop = make("button", { type: "button", className: "quiet drop", textContent: "×", title: "Remove this fact" });
      drop.setAttribute("aria-label", "Remove this fact");
      const item = make("li", {}, input, drop);
      const remove = () => {
        const neighbour = item.previousElementSibling || item.nextElementSibling;
        if (neighbour) { item.remove(); neighbour.querySelector("textarea").focus(); } else { input.value = ""; input.focus(); }
        collect();
      };
      drop.addEventListener("click", remove);
      input.addEventListener("input", () => { fit(); collect(); });
      input.addEventListener("paste", (event) => {
        const lines = (event.clipboardData.getData("text") || "").split(/\r?\n/).filter((x) => x.trim());
        if (lines.length < 2) return;
        event.preventDefault();
        input.setRangeText(lines[0], input.selectionStart, input.selectionEnd, "end");
        let last = item;
        for (const more of lines.slice(1)) last = line(more, last);
        last.querySelector("textarea").focus();
        collect();
      });
      input.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
          event.preventDefault();
          if (input.value.trim()) line("", item).querySelector("textarea").focus();
        } else if (event.key === "Backspace" && !input.value && list.children.length > 1) {
          event.preventDefault();
          remove();
        } else if (event.key === "ArrowUp" && (oneLine() || input.selectionStart === 0) && item.previousElementSibling) {
          item.previousElementSibling.querySelector("textarea").focus();
        } else if (event.key === "ArrowDown" && (oneLine() || input.selectionEnd === input.value.length) && item.nextElementSibling) {
          item.nextElementSibling.querySelector("textarea").focus();
        }
      });
      if (after) after.after(item); else list.append(item);
      return item;
    };
    for (const scu of answer.scus) line(scu);
    if (!answer.scus.length) line("");
    const more = make("button", { type: "button", className: "quiet", id: "more", textContent: "+ Another fact" });
    more.addEventListener("click", () => line("").querySelector("textarea").focus());
    article.append(text, list, more, make("label", { className: "none" }, none, data.no_fact));
  };

  // ------------------------------------------------------------------ moving
  const go = (to) => { at = to; keep(); draw(); };
  const next = () => {
    const task = tasks[at];
    const finish = !judging && answered(task) && !finished(task);
    if (finish) answerOf(task).finished = true;
    keep(finish ? task : null);
    const missing = judging ? task.units.length - answered(task) : 0;
    say(missing ? "Task " + (at + 1) + " still has " + missing + (missing === 1 ? " fact" : " facts") + " to judge."
      : judging || answered(task) ? "" : "Task " + (at + 1) + " was left without a fact. If it states none, tick “" + data.no_fact + "”.");
    if (at + 1 < tasks.length) return go(at + 1);
    const open = tasks.findIndex((x) => !finished(x));
    if (open >= 0) { say("Task " + (open + 1) + " is not done yet."); return go(open); }
    show("end");
    $("thanks").focus();
  };

  // ------------------------------------------------------------------ files
  const save = () => {
    const rows = tasks.filter(answered).map((task) => {
      const answer = answers[task.id];
      const row = { task: task.id, finished: finished(task) };
      if (judging) row.presence = answer.presence; else Object.assign(row, { scus: answer.scus, no_fact: answer.no_fact === true });
      return row;
    });
    const body = {
      format: "litepyramid-answers", version: 1, kind: data.kind, digest: data.digest, title: data.title,
      worker, saved: new Date().toISOString(), tasks: tasks.length, answers: rows,
    };
    const url = URL.createObjectURL(new Blob([JSON.stringify(body, null, 1) + "\n"], { type: "application/json" }));
    const link = make("a", { href: url, download: "answers-" + data.digest + "-" + worker.replace(/[^\p{L}\p{N}.-]+/gu, "_") + ".json" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say("Downloaded " + rows.length + " of " + tasks.length + " tasks as " + link.download + ".");
  };
  const load = async (file) => {
    let found;
    try { found = JSON.parse(await file.text()); } catch { found = null; }
    if (!found || found.format !== "litepyramid-answers") return say(file.name + " contains no answers.");
    if (found.digest !== data.digest) return say(file.name + " contains answers to other tasks.");
    const ids = new Map(tasks.map((task) => [task.id, task]));
    let count = 0;
    for (const row of found.answers || []) {
      const task = ids.get(row.task);
      if (!task || finished(task) || (!judging && answered(task))) continue;
      const before = answered(task);
      if (judging) answers[row.task] = { presence: { ...row.presence, ...(answers[row.task] || {}).presence } };
      else {
        const scus = [...(row.scus || [])].map(String);
        const none = row.no_fact === true;
        answers[row.task] = { scus, no_fact: none && !scus.length, finished: row.finished === true && !(none && scus.length) };
      }
      if (answered(task) === before) continue;
      touched.add(task.id);
      count += 1;
    }
    keep();
    draw(false);
    say("Loaded " + count + (count === 1 ? " task" : " tasks") + (found.worker && found.worker !== worker ? " answered by " + found.worker : "")
      + "; your answers here were kept.");
  };

  // ------------------------------------------------------------------ wiring
  $("keys").append(...(judging
    ? [make("kbd", { textContent: "Y" }), ", ", make("kbd", { textContent: "N" }), " and ", make("kbd", { textContent: "S" }), " (skip) answer and move to the next fact, ",
      make("kbd", { textContent: "Tab" }), " moves, ", make("kbd", { textContent: "Ctrl" }), " ", make("kbd", { textContent: "Enter" }), " goes to the next task."]
    : [make("kbd", { textContent: "Enter" }), " starts the next fact, ", make("kbd", { textContent: "Backspace" }), " removes an empty one, ",
      make("kbd", { textContent: "Ctrl" }), " ", make("kbd", { textContent: "Enter" }), " goes to the next task."]));
  $("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("name").value.trim();
    if (name) begin(name);
  });
  $("next").addEventListener("click", next);
  $("back").addEventListener("click", () => { if (at) go(at - 1); });
  $("review").addEventListener("click", () => { show("work"); go(0); });
  $("save").addEventListener("click", save);
  $("save-end").addEventListener("click", save);
  $("load").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => { if ($("file").files[0]) load($("file").files[0]); $("file").value = ""; });
  $("switch").addEventListener("click", start);
  document.addEventListener("keydown", (event) => {
    if ($("work").hidden) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); return next(); }
    const letter = event.key.toLowerCase();
    if (!judging || event.ctrlKey || event.altKey || event.metaKey || !["y", "n", "s"].includes(letter)) return;
    const sets = [...document.querySelectorAll("#task fieldset")];
    let set = document.activeElement.closest("#task fieldset");
    const free = [document.body, $("task"), $("guide").querySelector("summary")];
    if (!set && !free.includes(document.activeElement)) return;
    set = set || sets.find((x) => !x.querySelector(":checked")) || sets[0];
    event.preventDefault();
    set.querySelector({ y: ".yes input", n: ".no input", s: ".unsure input" }[letter]).click();
    const following = sets[sets.indexOf(set) + 1];
    if (following) {
      (following.querySelector(":checked") || following.querySelector("input")).focus();
      following.scrollIntoView({ block: "nearest" });
    } else $("next").focus();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!stored && Object.keys(answers).length) event.preventDefault();
  });
  const last = recall(prefix + "last");
  if (last) begin(last); else start();
})();
