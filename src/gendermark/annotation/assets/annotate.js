"use strict";
// One item at a time. What the server has not confirmed is not saved, and the page never pretends that it is: it stays
// where it is, says so, and tries again. Texts of translations only ever become text nodes.

const LONGEST_SHOWN = 2000;
const RETRY_MILLISECONDS = 2000;
const NAME_KEY = "gendermark-annotator";
// Characters that would turn round what follows, or that nobody sees: shown by their numbers.
const SIGNS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/;

const at = (id) => document.getElementById(id);

const state = {
  sheet: null, // what `start` gave
  who: "",
  name: "",
  answers: new Map(), // item -> {answer, note, revision}
  seen: 0,
  isClosed: false,
  item: 0,
  pending: null, // what was answered and is not saved: {item, answer, note}
  isStuck: false, // the server did not answer the last time
};
let work = Promise.resolve(); // what is being saved, one after the other

// -- the server --------------------------------------------------------------------------------------------------------

class Refused extends Error {}

const UNREACHABLE =
  "The server does not answer. Everything that was saved before is safe. If it was started again on another port, open its new address.";
const MOVED = "the server was started again and has a new address; open that one";

const reasonOf = (problem) => (problem instanceof Refused ? `${problem.message}.` : UNREACHABLE);

async function ask(path, options) {
  const response = await fetch(path, options); // throws where nobody answers
  let value = null;
  try {
    value = await response.json();
  } catch {
    throw new Error("the answer was cut off");
  }
  if (!response.ok) {
    throw new Refused(response.status === 403 ? MOVED : value.error);
  }
  return value;
}

const read = (path, query) => ask(path + "?" + new URLSearchParams(query));

// `keepalive`: an answer arrives even if its tab is closed in the same moment.
const write = (path, value) =>
  ask(path, {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seen: state.seen, ...value }),
  });

function take(changed) {
  for (const [item, answer] of Object.entries(changed.changes)) {
    state.answers.set(Number(item), answer);
  }
  state.seen = changed.seen;
  state.isClosed = changed.is_closed;
}

// -- what is known -----------------------------------------------------------------------------------------------------

const nothing = { answer: "", note: "", revision: 0 };
const answerOf = (item) => state.answers.get(item) || nothing;
const total = () => state.sheet.items.length;
const isOpen = (item) => answerOf(item).answer === "";

function countAnswered() {
  let n = 0;
  for (const one of state.answers.values()) {
    n += one.answer !== "" ? 1 : 0;
  }
  return n;
}

// The first open item from here on, going round; -1 if all are answered.
function nextOpen(from) {
  for (let step = 0; step < total(); step += 1) {
    const item = (from + step) % total();
    if (isOpen(item)) {
      return item;
    }
  }
  return -1;
}

// -- drawing -----------------------------------------------------------------------------------------------------------

function make(name, content, attributes) {
  const element = document.createElement(name);
  element.append(...[].concat(content || []));
  for (const [key, value] of Object.entries(attributes || {})) {
    element.setAttribute(key, value);
  }
  return element;
}

function textNodes(text) {
  const nodes = [];
  let plain = "";
  for (const letter of text) {
    if (SIGNS.test(letter)) {
      nodes.push(plain, make("span", "U+" + letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"), { class: "sign" }));
      plain = "";
    } else {
      plain += letter;
    }
  }
  return [...nodes, plain];
}

function showText(element, text, direction, language) {
  element.dir = direction || "auto";
  if (language) {
    element.lang = language;
  }
  const isLong = text.length > LONGEST_SHOWN;
  element.replaceChildren(...textNodes(isLong ? text.slice(0, LONGEST_SHOWN) + "…" : text));
  if (isLong) {
    const more = make("button", `Show all ${text.length.toLocaleString("en")} characters`, { type: "button" });
    more.addEventListener("click", () => element.replaceChildren(...textNodes(text)));
    element.append(" ", more);
  }
}

function show(section) {
  for (const id of ["welcome", "work", "done"]) {
    at(id).hidden = id !== section;
  }
  at("person").hidden = !state.who;
  at("person-name").replaceChildren(...textNodes(state.name));
}

function complain(message) {
  at("alert").hidden = !message;
  at("alert").textContent = message || "";
}

function say(message) {
  at("status").textContent = message;
}

function drawItem() {
  const { sheet, item } = state;
  const shown = sheet.items[item];
  const answer = state.pending && state.pending.item === item ? state.pending : answerOf(item);
  at("place").textContent = `${(item + 1).toLocaleString("en")} of ${total().toLocaleString("en")}`;
  at("count").textContent = `${countAnswered().toLocaleString("en")} answered`;
  at("bar").max = total();
  at("bar").value = countAnswered();
  at("question").replaceChildren(shown.question || sheet.question, ...(shown.entity ? [" ", make("bdi", textNodes(shown.entity))] : []));
  at("hint").textContent = shown.hint || sheet.hint;
  for (const name of ["context", "source"]) {
    at(`${name}-block`).hidden = !shown[name];
    showText(at(name), shown[name] || "", "auto", sheet.source_language);
  }
  if (shown.text.trim()) {
    showText(at("text"), shown.text, shown.direction, sheet.target_language);
  } else {
    showText(at("text"), "(no translation)", "ltr", "en");
  }
  for (const button of at("choices").children) {
    button.setAttribute("aria-pressed", String(button.dataset.key === answer.answer));
    button.disabled = state.isClosed;
  }
  if (document.activeElement !== at("note")) {
    at("note").value = answer.note;
  }
  at("note").disabled = state.isClosed;
  at("undo").disabled = state.isClosed;
  at("back").disabled = item === 0;
  at("open").disabled = nextOpen(0) < 0;
  show("work");
}

function goTo(item) {
  saveNote();
  state.item = Math.max(0, Math.min(item, total() - 1));
  drawItem();
}

function drawDone() {
  const isLast = !state.sheet.has_agreement;
  at("done-title").textContent = state.isClosed ? "Finished. Thank you." : `All ${total().toLocaleString("en")} answered`;
  at("done-text").textContent = state.isClosed
    ? "Your answers are saved, and stay as they are."
    : "You can look at your answers and change them. When you finish, they stay as they are" +
      (isLast ? "." : ", and you see how far people and the automatic judge agree.");
  at("finish").hidden = state.isClosed;
  show("done");
  at("done-title").focus();
  if (state.isClosed && state.sheet.has_agreement) {
    showAgreement();
  }
}

function drawTable(table) {
  if (!table.rows.length) {
    return make("p", `${table.title}.`);
  }
  const isNumber = (cell) => /^[\d.,%–-]+$/.test(cell);
  const head = make("tr", table.columns.map((name) => make("th", name, { scope: "col" })));
  const body = table.rows.map((row) =>
    make("tr", row.map((cell, place) => {
      const kind = isNumber(cell) ? "number" : cell.length > 40 ? "long" : "";
      // On a telephone each row becomes a list, which needs its heads again.
      return make("td", make("bdi", textNodes(cell)), { class: kind, "data-head": table.columns[place] });
    })),
  );
  const drawn = make("table", [make("caption", table.title), make("thead", head), make("tbody", body)]);
  return make("div", drawn, { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title });
}

async function showAgreement() {
  at("agreement").replaceChildren(make("p", "Agreement is being worked out …"));
  try {
    const found = await read("agreement", { who: state.who });
    const leftOut = found.left_out.length
      ? [make("p", `Not finished yet, and not in these numbers: ${found.left_out.join(", ")}.`)]
      : [];
    const sentences = found.sentences.map((sentence) => make("p", sentence));
    const warnings = found.warnings.map((warning) => make("p", `Note: ${warning}.`));
    at("agreement").replaceChildren(...sentences, ...leftOut, ...warnings, ...found.tables.map(drawTable));
  } catch (problem) {
    at("agreement").replaceChildren(make("p", reasonOf(problem)));
  }
}

// -- answers -----------------------------------------------------------------------------------------------------------

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// After what is being saved already. The next key may come before the last answer is confirmed.
function afterwards(task) {
  work = work.then(task);
}

// Save an answer and a comment of one item, until it is saved or refused. Whether it is.
async function save(who, item, answer, note) {
  const before = answerOf(item);
  if (state.who !== who || state.isClosed || (before.answer === answer && before.note === note)) {
    return false;
  }
  state.pending = { item, answer, note };
  for (;;) {
    try {
      const reply = await write("answer", { who, item, answer, note, revision: before.revision });
      Object.assign(state, { pending: null, isStuck: false });
      if (state.who === who) {
        take(reply);
      }
      say(reply.is_saved ? "Saved." : "");
      complain(
        reply.is_saved
          ? reply.warning
          : "You have answered this one in another tab. What you see now is that answer; change it if you like.",
      );
      return reply.is_saved;
    } catch (problem) {
      say("");
      if (problem instanceof Refused) {
        Object.assign(state, { pending: null, isStuck: false });
        complain(`Not saved: ${problem.message}.`);
        return false;
      }
      state.isStuck = true;
      if (!at("work").hidden) {
        drawItem();
      }
      complain(`Your last answer is not saved yet. ${UNREACHABLE}`);
      await pause(RETRY_MILLISECONDS);
    }
  }
}

function choose(key) {
  if (state.isStuck || at("work").hidden) {
    return; // what could not be saved comes first
  }
  const { who, item } = state;
  const note = at("note").value.trim();
  afterwards(async () => {
    if (state.item !== item || at("work").hidden) {
      return; // a key that was pressed twice answers one item
    }
    const wasOpen = isOpen(item);
    const isSaved = await save(who, item, key, note);
    if (state.item === item && !at("work").hidden) {
      if (isSaved) {
        move(item, wasOpen);
      } else {
        drawItem();
      }
    }
  });
}

function move(item, wasOpen) {
  const following = wasOpen ? nextOpen(item) : Math.min(item + 1, total() - 1);
  if (following < 0) {
    drawDone();
  } else {
    state.item = following;
    drawItem();
  }
}

function saveNote() {
  if (at("work").hidden) {
    return;
  }
  const { who, item } = state;
  const note = at("note").value.trim();
  if (note !== answerOf(item).note) {
    afterwards(async () => {
      await save(who, item, answerOf(item).answer, note);
      if (!at("work").hidden) {
        drawItem();
      }
    });
  }
}

function undo() {
  const { who } = state;
  if (state.isStuck || state.isClosed) {
    return;
  }
  afterwards(async () => {
    try {
      const reply = await write("undo", { who });
      take(reply);
      complain(reply.warning);
      say(reply.item === null ? "Nothing to undo." : "Undone.");
      state.item = reply.item === null ? state.item : reply.item;
      drawItem();
    } catch (problem) {
      complain(reasonOf(problem));
    }
  });
}

function finish() {
  const { who } = state;
  afterwards(async () => {
    try {
      take(await write("close", { who }));
      complain("");
      drawDone();
    } catch (problem) {
      complain(`Not finished: ${reasonOf(problem)}`);
    }
  });
}

// Another tab may have gone on meanwhile.
async function refresh() {
  const { who } = state;
  if (!who || state.pending || document.hidden) {
    return;
  }
  try {
    const changed = await read("answers", { who, seen: state.seen });
    if (state.who !== who || state.pending) {
      return;
    }
    take(changed);
    if (!at("work").hidden) {
      drawItem();
    }
  } catch {
    // The next answer will show it.
  }
}

// -- who --------------------------------------------------------------------------------------------------------------

function remembered(value) {
  try {
    if (value !== undefined) {
      localStorage.setItem(NAME_KEY, value);
    }
    return localStorage.getItem(NAME_KEY) || "";
  } catch {
    return ""; // a browser may refuse to remember
  }
}

async function join(name) {
  try {
    const person = await write("join", { name });
    Object.assign(state, { who: person.who, name: person.name, answers: new Map(), seen: 0, pending: null });
    take(await read("answers", { who: state.who, seen: 0 }));
  } catch (problem) {
    state.who = "";
    await welcome();
    complain(reasonOf(problem));
    return;
  }
  remembered(state.name);
  complain("");
  const first = nextOpen(0);
  if (first < 0 || state.isClosed) {
    drawDone();
  } else {
    state.item = first;
    drawItem();
    at("place").focus(); // not a choice: the space bar would answer
  }
}

async function welcome() {
  try {
    const { people } = await read("progress", {});
    at("known").hidden = !people.length;
    at("people").replaceChildren(
      ...people.map((person) => {
        const count = person.is_closed ? "finished" : `${person.n_answered} of ${total()}`;
        const button = make("button", [make("bdi", textNodes(person.name)), " ", make("small", count)], { type: "button" });
        button.addEventListener("click", () => join(person.name));
        return make("li", button);
      }),
    );
  } catch (problem) {
    complain(reasonOf(problem));
  }
  show("welcome");
  at("name").focus();
}

// -- keys --------------------------------------------------------------------------------------------------------------

function onKey(event) {
  const isUndo = event.key.toLowerCase() === "z";
  if (event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo) || event.isComposing) {
    return;
  }
  if (event.target === at("note")) {
    if (event.key === "Enter" || event.key === "Escape") {
      if (event.key === "Escape") {
        at("note").value = answerOf(state.item).note;
      }
      at("note").blur();
      event.preventDefault();
    }
    return;
  }
  if (event.target instanceof HTMLInputElement || at("work").hidden) {
    return;
  }
  const key = event.key.toLowerCase();
  const choice = state.sheet.choices.find((one) => one.key === key);
  const actions = {
    arrowleft: () => goTo(state.item - 1),
    arrowright: () => next(),
    o: () => nextOpen(0) >= 0 && goTo(nextOpen(0)),
    z: undo,
    c: () => at("note").focus(),
  };
  if (event.repeat && !key.startsWith("arrow")) {
    return;
  }
  const action = choice ? () => choose(choice.key) : actions[key];
  if (action) {
    event.preventDefault();
    action();
  }
}

function next() {
  if (state.item + 1 < total()) {
    goTo(state.item + 1);
  } else if (nextOpen(0) < 0) {
    saveNote();
    drawDone();
  }
}

// -- begin -------------------------------------------------------------------------------------------------------------

async function begin() {
  try {
    state.sheet = await read("start", {});
  } catch (problem) {
    complain(reasonOf(problem));
    return;
  }
  at("sheet").textContent = state.sheet.title;
  document.title = `${state.sheet.title} · gendermark`;
  at("note").maxLength = state.sheet.longest_note;
  at("choices").replaceChildren(
    ...state.sheet.choices.map((choice) => {
      const button = make("button", [make("kbd", choice.key, { "aria-hidden": "true" }), make("span", choice.label)], {
        type: "button",
        "data-key": choice.key,
        "aria-keyshortcuts": choice.key,
      });
      button.addEventListener("click", () => choose(choice.key));
      return button;
    }),
  );
  at("name-form").addEventListener("submit", (event) => {
    event.preventDefault();
    join(at("name").value);
  });
  at("leave").addEventListener("click", () => {
    saveNote();
    Object.assign(state, { who: "", name: "" });
    remembered("");
    welcome();
  });
  at("note").addEventListener("blur", saveNote);
  at("back").addEventListener("click", () => goTo(state.item - 1));
  at("next").addEventListener("click", next);
  at("open").addEventListener("click", () => goTo(nextOpen(0)));
  at("undo").addEventListener("click", undo);
  at("review").addEventListener("click", () => goTo(0));
  at("finish").addEventListener("click", finish);
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", refresh);
  window.addEventListener("focus", refresh);
  // What is not saved must not vanish with the tab unseen.
  window.addEventListener("beforeunload", (event) => state.pending && event.preventDefault());
  const name = remembered();
  if (name) {
    join(name);
  } else {
    welcome();
  }
}

begin();
