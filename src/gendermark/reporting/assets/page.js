// The explorer of sentences. Texts come from translation systems and are not to be trusted: they only ever become
// text nodes, never markup. Rows come from `source.page(filter, from, n)`: from the page itself, or from a server.
"use strict";

(async () => {
  const FIELDS = [
    "cell", "benchmark", "language", "slice", "entity", "expected", "observed", "verdict", "outcome", "system",
    "differ", "text", "sentence",
  ];
  const OUTCOME_WORDS = {
    right: "right gender",
    wrong: "wrong gender",
    open: "gender unspecified",
    mixed: "both genders at once",
    undecided: "no gender shown",
    failed: "not translated",
  };
  // In a row there is room for two words.
  const SHORT_WORDS = { mixed: "both genders", undecided: "no gender", failed: "not translated" };
  const OUTCOME_SIGNS = { right: "✓", wrong: "✗", open: "○", mixed: "±", undecided: "?", failed: "∅" };
  const REASON_WORDS = {
    absent: "the word was not found",
    agreement: "by its article and agreeing words",
    both: "both forms are given",
    copied: "the source was copied",
    empty: "the translation is empty",
    ending: "by its ending",
    epicene: "the word is the same for both",
    error: "the system failed",
    extraction: "the sentence was not found in the answer",
    form: "by its form",
    mixed: "words of both genders",
    model: "by a model",
    "no-person": "no person is mentioned",
    truncated: "a fragment",
    unaligned: "the word was not found",
    undecidable: "the references do not differ",
    undecided: "no deciding word",
    unknown: "the word is not known",
    "wrong-language": "another language",
  };
  // Longer lists would be taller than a browser can draw.
  const MOST_PIXELS = 8_000_000;
  const SHOWN_IN_ROW = 400;
  const SHOWN_IN_DETAIL = 3_000;
  const CHUNK = 50;
  const LIVE_MILLISECONDS = 2_000;

  // -- where rows come from ------------------------------------------------------------------------------------------

  /** All rows are in the page, packed. */
  async function embedded(data) {
    const bytes = Uint8Array.from(atob(data.rows), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const all = JSON.parse(await new Response(stream).text());
    let last = { key: null };

    function matches(filter) {
      const needle = filter.text.toLowerCase();
      const one = /^\d+$/.test(filter.system) && Number(filter.system) < data.systems.length;
      const askedOfAnswer = filter.observed || filter.verdict || filter.outcome || filter.system;
      const slices = data.cells.map((cell) => cell.slices.indexOf(filter.slice));
      const wanted = data.cells.map((cell) => (!filter.cell || filter.cell === cell.name)
        && (!filter.benchmark || filter.benchmark === cell.benchmark)
        && (!filter.language || filter.language === cell.target_language));
      const fits = (answer) => answer
        && (!filter.observed || answer.observed === filter.observed)
        && (!filter.verdict || answer.verdict === filter.verdict)
        && (!filter.outcome || answer.outcome === filter.outcome);
      const has = (text) => text.toLowerCase().includes(needle);
      return all.filter((row) => wanted[row.cell]
        && (!filter.slice || filter.slice === "all" || row.slices.includes(slices[row.cell]))
        && (!filter.sentence || row.id === filter.sentence)
        && (!filter.entity || row.entity === filter.entity)
        && (!filter.expected || row.expected === filter.expected)
        && (!filter.differ || new Set(row.answers.filter(Boolean).map((answer) => answer.observed)).size > 1)
        && (!askedOfAnswer || (one ? [row.answers[Number(filter.system)]] : row.answers).some(fits))
        && (!needle || has(row.source) || row.answers.some((answer) => answer && has(answer.text))));
    }

    function count(rows) {
      const counts = data.systems.map(() => data.outcomes.map(() => 0));
      for (const row of rows) {
        row.answers.forEach((answer, run) => {
          if (answer) counts[run][data.outcomes.indexOf(answer.outcome)]++;
        });
      }
      return counts;
    }

    return {
      entities: () => [...new Set(all.map((row) => row.entity))].filter(Boolean).sort(),
      page(filter, from, n) {
        const key = JSON.stringify(filter);
        if (last.key !== key) {
          const rows = matches(filter);
          last = { key, rows, counts: count(rows) };
        }
        const rows = last.rows.slice(from, from + n).map(({ slices, ...row }) => row);
        return { total: last.rows.length, counts: last.counts, rows };
      },
    };
  }

  /** A server has the rows; they are fetched in portions that stand at multiples of CHUNK, and kept. */
  function served(data) {
    let kept = new Map();
    async function chunk(filter, number) {
      const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
      query.set("from", String(number * CHUNK));
      query.set("n", String(CHUNK));
      const key = query.toString();
      if (!kept.has(key)) {
        if (kept.size > 200) kept = new Map();
        const answer = await fetch(`rows?${key}`);
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        kept.set(key, await answer.json());
      }
      return kept.get(key);
    }
    return {
      entities: () => data.entities ?? [],
      forget() {
        kept = new Map();
      },
      async page(filter, from, n) {
        const rows = [];
        let whole = null;
        const last = Math.floor((from + Math.max(n, 1) - 1) / CHUNK);
        for (let number = Math.floor(from / CHUNK); number <= last; number++) {
          const portion = await chunk(filter, number);
          whole ??= portion;
          rows.push(...portion.rows);
          if ((number + 1) * CHUNK >= portion.total) break;
        }
        const skipped = from % CHUNK;
        return { total: whole.total, counts: whole.counts, rows: rows.slice(skipped, skipped + n) };
      },
    };
  }

  // -- texts ---------------------------------------------------------------------------------------------------------

  // What would turn the text around it, end a line or show as nothing; joiners that scripts need are left alone.
  const CONTROLS =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

  function element(name, attributes = {}, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...content.filter((part) => part !== null && part !== undefined));
    return made;
  }

  /** Text as it is, but characters that cannot be seen shown by their numbers. */
  function appendVisible(parent, text) {
    let from = 0;
    for (const found of text.matchAll(CONTROLS)) {
      if (found.index > from) parent.append(text.slice(from, found.index));
      const number = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
      parent.append(element("span", { class: "control", dir: "ltr" }, `U+${number}`));
      from = found.index + found[0].length;
    }
    if (from < text.length) parent.append(text.slice(from));
  }

  const patterns = new Map();
  function patternOf(words) {
    if (!patterns.has(words)) {
      if (patterns.size > 5_000) patterns.clear();
      const escaped = words.slice(0, 200).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/gu, "\\s+");
      const whole = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])${escaped}(?![\\p{L}\\p{M}\\p{N}])`, "giu");
      patterns.set(words, [whole, new RegExp(escaped, "giu")]);
    }
    return patterns.get(words);
  }

  /** What decided: where it stands, or in runs of an earlier version its words only. */
  function marksOf(answer, cell) {
    if (cell.draws) return [];
    return answer.spans.length ? answer.spans : answer.evidence;
  }

  /** Stretches of a text, which are counted in letters; a letter outside the basic plane has two units here. */
  function inUnits(text, spans) {
    if (!/[\ud800-\udfff]/.test(text)) return spans.filter(([start]) => start < text.length);
    const places = [];
    let unit = 0;
    for (const letter of text) {
      places.push(unit);
      unit += letter.length;
    }
    places.push(unit);
    return spans.filter(([start]) => start < places.length - 1)
      .map(([start, end]) => [places[start], places[Math.min(end, places.length - 1)]]);
  }

  /** Where the deciding words stand; words that are part of others (a prefix, an article grown on) are found too. */
  function rangesOf(text, marks) {
    const found = typeof marks[0] === "string" ? placesOf(text, marks) : inUnits(text, marks).map((span) => [...span]);
    found.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
    const apart = [];
    for (const range of found) {
      if (!apart.length || range[0] >= apart.at(-1)[1]) apart.push(range);
      else apart.at(-1)[1] = Math.max(apart.at(-1)[1], range[1]);
    }
    return apart;
  }

  function placesOf(text, evidence) {
    const found = [];
    for (const words of evidence) {
      if (!words.trim()) continue;
      const [whole, part] = patternOf(words);
      let places = [...text.matchAll(whole)];
      if (!places.length && words.length > 2) places = [...text.matchAll(part)];
      if (!places.length && /\s/.test(words)) found.push(...placesOf(text, words.split(/\s+/)));
      for (const place of places) found.push([place.index, place.index + place[0].length]);
    }
    return found;
  }

  function appendMarked(parent, text, marks, limit) {
    const shown = text.length > limit ? text.slice(0, limit) : text;
    let from = 0;
    for (const [start, end] of rangesOf(shown, marks)) {
      appendVisible(parent, shown.slice(from, start));
      const mark = element("mark");
      appendVisible(mark, shown.slice(start, end));
      parent.append(mark);
      from = end;
    }
    appendVisible(parent, shown.slice(from));
    if (text.length > limit) parent.append("…");
  }

  /** Attributes of a text in a language. */
  function inLanguage(code) {
    return { lang: code, dir: rightToLeft.has(code) ? "rtl" : "auto" };
  }

  // -- the explorer --------------------------------------------------------------------------------------------------

  const holder = document.getElementById("rows");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const source = data.rows ? await embedded(data) : served(data);
  const words = data.words;
  const rightToLeft = new Set(words.right_to_left);
  const section = document.getElementById("sentences");
  const list = document.getElementById("list");
  const space = document.getElementById("space");
  const detail = document.getElementById("detail");
  const summary = document.getElementById("summary");
  const form = document.getElementById("filters");
  const several = data.systems.length > 1;
  if (!data.cells.some((cell) => cell.draws)) OUTCOME_WORDS.open = "gender added";
  const state = { filter: emptyFilter(), total: 0, counts: [], selected: -1, rowHeight: 100, typicalLength: 0, asked: 0, applied: 0 };

  function emptyFilter() {
    return Object.fromEntries(FIELDS.map((field) => [field, ""]));
  }

  const letterOf = (run) => (run < 26 ? String.fromCharCode(65 + run) : `S${run + 1}`);
  const expectedWord = (gender) => (gender === "none" ? "gender unspecified" : gender);
  const expectedIn = (row) => (row.expected === "none" ? "gender unspecified" : `expected ${row.expected}`);
  const count = (n) => n.toLocaleString("en");
  const languageName = (code) => words.languages[code] ?? code;
  const directionOf = (cell) => `${languageName(cell.source_language)} → ${languageName(cell.target_language)}`;
  const benchmarkName = (name) => words.benchmarks[name] ?? name;
  const sliceName = (name) => words.slices[name] ?? name.replaceAll("-", " ");

  function marker(run) {
    return element("span", { class: `marker run-${run % 8}`, title: data.systems[run] }, letterOf(run));
  }

  // -- filters

  function option(value, text, selected) {
    const made = element("option", { value }, text);
    made.selected = selected;
    return made;
  }

  function offer(select, entries, chosen) {
    select.replaceChildren(...entries.map(([value, text]) => option(value, text, value === chosen)));
    // A link may ask for what no control offers; the control then shows it as it is.
    if (chosen && !entries.some(([value]) => value === chosen)) select.append(option(chosen, chosen, true));
  }

  function fillControls() {
    const filter = state.filter;
    const where = form.elements.where;
    const chosen = filter.cell ? `cell=${filter.cell}` : filter.benchmark ? `benchmark=${filter.benchmark}` : "";
    where.replaceChildren(option("", "all", !chosen));
    for (const name of new Set(data.cells.map((cell) => cell.benchmark))) {
      const cells = data.cells.filter((cell) => cell.benchmark === name);
      const group = element("optgroup", { label: benchmarkName(name) });
      if (cells.length > 1) {
        group.append(option(`benchmark=${name}`, `all of ${benchmarkName(name)}`, chosen === `benchmark=${name}`));
      }
      for (const cell of cells) {
        const others = cells.filter((other) => directionOf(other) === directionOf(cell));
        const text = others.length > 1 ? `${directionOf(cell)} (${cell.name.split(" ").slice(1).join(" ")})` : directionOf(cell);
        group.append(option(`cell=${cell.name}`, `${benchmarkName(name)}, ${text}`, chosen === `cell=${cell.name}`));
      }
      where.append(group);
    }
    const cells = data.cells.filter(
      (cell) => (!filter.cell || filter.cell === cell.name) && (!filter.benchmark || filter.benchmark === cell.benchmark),
    );
    const languages = [...new Set(data.cells.map((cell) => cell.target_language))];
    offer(form.elements.language, [["", "all"], ...languages.map((code) => [code, languageName(code)])], filter.language);
    const slices = [...new Set(cells.flatMap((cell) => cell.slices))];
    offer(form.elements.slice, [["", "all"], ...slices.map((name) => [name, sliceName(name)])], filter.slice);
    const genders = (word) => [["", "any"], ...data.genders.map((gender) => [gender, gender === "none" ? word : gender])];
    offer(form.elements.expected, genders("gender unspecified"), filter.expected);
    offer(form.elements.observed, genders("not determined"), filter.observed);
    offer(
      form.elements.result,
      [
        ["", "any"],
        ...data.outcomes
          .filter((name) => name !== "open" || data.cells.some((cell) => cell.draws))
          .map((name) => [`outcome=${name}`, `${OUTCOME_SIGNS[name]} ${OUTCOME_WORDS[name]}`]),
        ["verdict=judged", "judged: right or wrong"],
        ["verdict=unjudgeable", "could not be judged"],
      ],
      filter.outcome ? `outcome=${filter.outcome}` : filter.verdict ? `verdict=${filter.verdict}` : "",
    );
    offer(
      form.elements.system,
      [["", "any"], ...data.systems.map((name, run) => [String(run), `${letterOf(run)} ${name}`])],
      filter.system,
    );
    form.elements.differ.checked = Boolean(filter.differ);
    if (document.activeElement !== form.elements.text) form.elements.text.value = filter.text;
    if (document.activeElement !== form.elements.entity) form.elements.entity.value = filter.entity;
    for (const name of ["system", "differ"]) form.elements[name].closest(".field").hidden = !several;
    form.elements.language.closest(".field").hidden = languages.length < 2;
  }

  function readControls() {
    const filter = emptyFilter();
    for (const name of ["language", "slice", "entity", "expected", "observed", "system", "text"]) {
      filter[name] = form.elements[name].value;
    }
    filter.entity = filter.entity.trim();
    filter.differ = form.elements.differ.checked ? "yes" : "";
    for (const name of ["where", "result"]) {
      const [field, value] = split(form.elements[name].value, "=");
      if (field) filter[field] = value;
    }
    return filter;
  }

  function split(text, at) {
    const place = text.indexOf(at);
    return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + 1)];
  }

  function linkOf(filter) {
    const given = FIELDS.filter((field) => filter[field]);
    return `#sentences?${given.map((field) => `${field}=${encodeURIComponent(filter[field])}`).join("&")}`;
  }

  /** The filter that an address asks for; null if it asks for none. */
  function filterOf(hash) {
    if (!hash.startsWith("#sentences?")) return hash === "#sentences" ? emptyFilter() : null;
    const filter = emptyFilter();
    for (const [field, value] of new URLSearchParams(hash.slice("#sentences?".length))) {
      if (FIELDS.includes(field)) filter[field] = value;
    }
    return filter;
  }

  // -- rows

  function measure() {
    const style = getComputedStyle(list);
    const line = Number.parseFloat(style.lineHeight) || 20;
    const width = list.clientWidth;
    const n = data.systems.length;
    const isWide = width >= 720;
    // Beside a sentence shown in full, one line of each text will do; a telephone shows too little in one.
    const letters = (isWide ? width / 2 - 150 : width - 150) / (0.36 * line);
    const fits = state.typicalLength <= letters || (!isWide && width >= 440);
    const perText = fits ? 1 : 2;
    list.classList.toggle("narrow", !isWide);
    list.classList.toggle("one-line", fits);
    const lines = isWide ? Math.max(perText + 1, perText * n) : perText + 1 + perText * n;
    state.rowHeight = Math.round(lines * line + 20);
    list.style.setProperty("--row-height", `${state.rowHeight}px`);
  }

  /** Rows of another height need another space, in which the same rows are shown. */
  function resized() {
    const before = state.rowHeight;
    measure();
    if (state.rowHeight === before || !state.total) return;
    const place = list.scrollTop / before;
    space.style.height = `${Math.min(state.total, Math.floor(MOST_PIXELS / state.rowHeight)) * state.rowHeight}px`;
    list.scrollTop = place * state.rowHeight;
  }

  /** Nine of ten texts are no longer than this. */
  function typicalLength(rows) {
    const lengths = rows.flatMap((row) => [row.source.length, ...row.answers.map((answer) => answer?.text.length ?? 0)]);
    lengths.sort((one, other) => one - other);
    return lengths[Math.floor(0.9 * lengths.length)] ?? 0;
  }

  function resultText(answer, wordOf = OUTCOME_WORDS) {
    if (!answer) return "not in this run";
    const sign = OUTCOME_SIGNS[answer.outcome] ?? "";
    if (["right", "wrong", "open"].includes(answer.outcome)) {
      return answer.observed === "none" ? `${sign} ${answer.outcome}` : `${sign} ${answer.observed}`;
    }
    return `${sign} ${wordOf[answer.outcome] ?? answer.outcome}`;
  }

  function rowElement(row, place) {
    const cell = data.cells[row.cell];
    const made = element("div", {
      class: "row", role: "option", id: `row-${place}`, "aria-setsize": state.total, "aria-posinset": place + 1,
      "aria-selected": String(place === state.selected),
    });
    made.style.top = `${place * state.rowHeight}px`;
    const sentence = element("p", { class: "source", ...inLanguage(cell.source_language) });
    appendMarked(sentence, row.source, [], SHOWN_IN_ROW);
    const about = element("p", { class: "about" });
    about.append(expectedIn(row));
    if (row.entity) {
      const entity = element("bdi", inLanguage(cell.source_language));
      appendVisible(entity, row.entity.slice(0, 80));
      about.append(row.tags.kind === "addressee" ? " · addressee: " : " · ", entity);
    }
    if (data.cells.length > 1) about.append(` · ${benchmarkName(cell.benchmark)}, ${directionOf(cell)}`);
    made.append(element("div", { class: "said" }, sentence, about));
    const answers = element("div", { class: "answers" });
    row.answers.forEach((answer, run) => {
      if (!answer && !several) return;
      const line = element("div", { class: `answer ${answer ? answer.outcome : "absent"}` });
      if (several) line.append(marker(run));
      const text = element("p", { class: "translation", ...inLanguage(cell.target_language) });
      if (answer?.text) appendMarked(text, answer.text, marksOf(answer, cell), SHOWN_IN_ROW);
      else text.append(element("span", { class: "nothing" }, answer ? "(nothing)" : ""));
      line.append(text, element("span", { class: "result" }, resultText(answer, SHORT_WORDS)));
      answers.append(line);
    });
    made.append(answers);
    return made;
  }

  /** Draw the rows that can be seen, and a few around them. */
  async function draw() {
    const asked = ++state.asked;
    const first = Math.max(0, Math.floor(list.scrollTop / state.rowHeight) - 4);
    const n = Math.ceil(list.clientHeight / state.rowHeight) + 8;
    const found = await source.page(state.filter, first, n);
    if (asked !== state.asked) return;
    space.replaceChildren(...found.rows.map((row, number) => rowElement(row, first + number)));
    const selected = document.getElementById(`row-${state.selected}`);
    if (selected) list.setAttribute("aria-activedescendant", selected.id);
    else list.removeAttribute("aria-activedescendant");
  }

  async function apply({ select = false, stay = false } = {}) {
    // Not the counter of `draw`: rows may be drawn while a server is asked, and must not end this.
    const asked = ++state.applied;
    if (!select && !stay) closeDetail(); // now: while a server is asked, somebody may choose a sentence
    fillControls();
    const found = await source.page(state.filter, 0, CHUNK);
    if (asked !== state.applied) return;
    state.total = found.total;
    state.counts = found.counts;
    state.typicalLength = typicalLength(found.rows);
    measure();
    const most = Math.floor(MOST_PIXELS / state.rowHeight);
    space.style.height = `${Math.min(state.total, most) * state.rowHeight}px`;
    if (!stay) list.scrollTop = 0;
    list.hidden = state.total === 0;
    await describe(most);
    await draw();
    if (select && state.total) await choose(0, { focus: false });
  }

  async function describe(most) {
    const all = data.cells.reduce((sum, cell) => sum + cell.n, 0);
    const n = state.total;
    const parts = [
      n === all ? `${count(n)} ${data.unit}.` : `${count(n)} of ${count(all)} ${data.unit}${n === 0 ? "; clear a filter to see more." : "."}`,
    ];
    if (data.sample) {
      parts.push(`Shown: ${count(data.sample.n)} of ${count(data.sample.all)} sentences; ${data.sample.command} shows all. Counts and the CSV file are of those shown.`);
    }
    if (n > most) parts.push(`The first ${count(most)} are listed; filter to see the others.`);
    summary.replaceChildren(element("p", {}, parts.join(" ")));
    if (n === 0) return;
    state.counts.forEach((counts, run) => {
      const line = element("p", { class: "counts" });
      if (several) line.append(marker(run), " ");
      data.outcomes.forEach((outcome, place) => {
        if (!counts[place]) return;
        const asked = { ...state.filter, outcome, verdict: "", system: several ? String(run) : "" };
        const link = element("a", { href: linkOf(asked), class: outcome });
        link.append(`${OUTCOME_SIGNS[outcome]} ${OUTCOME_WORDS[outcome]} ${count(counts[place])}`);
        line.append(link, " ");
      });
      summary.append(line);
    });
  }

  // -- one sentence in full

  function closeDetail() {
    state.selected = -1;
    detail.hidden = true;
    section.classList.remove("detailed");
  }

  async function choose(place, { focus = true } = {}) {
    if (!state.total) return;
    const most = Math.floor(MOST_PIXELS / state.rowHeight);
    state.selected = Math.max(0, Math.min(place, state.total - 1, most - 1));
    const asked = state.selected;
    const found = await source.page(state.filter, asked, 1);
    if (asked !== state.selected || !found.rows.length) return;
    const wasHidden = detail.hidden;
    showDetail(found.rows[0], asked);
    if (wasHidden) resized();
    const top = asked * state.rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + state.rowHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top + state.rowHeight - list.clientHeight;
    }
    if (focus) list.focus({ preventScroll: true });
    await draw();
  }

  function longText(name, attributes, text, marks, fullLength) {
    const made = element(name, attributes);
    appendMarked(made, text, marks, SHOWN_IN_DETAIL);
    if (text.length <= SHOWN_IN_DETAIL) return [made];
    const more = element("button", { type: "button" }, `Show ${count(text.length)} characters`);
    more.addEventListener("click", () => {
      made.replaceChildren();
      appendMarked(made, text, marks, text.length);
      more.remove();
    });
    const note = fullLength > text.length
      ? element("p", { class: "note" }, `The whole text has ${count(fullLength)} characters; it is in the run folder.`)
      : null;
    return note ? [made, more, note] : [made, more];
  }

  function showDetail(row, place) {
    const cell = data.cells[row.cell];
    const target = inLanguage(cell.target_language);
    const content = [
      element("p", { class: "where" }, `${count(place + 1)} of ${count(state.total)} · ${benchmarkName(cell.benchmark)}, ${directionOf(cell)}`),
    ];
    if (row.context) {
      const before = element("p", { class: "context", ...inLanguage(cell.source_language) });
      appendVisible(before, row.context);
      content.push(before);
    }
    content.push(...longText("p", { class: "source", ...inLanguage(cell.source_language) }, row.source, [], row.source.length));
    const facts = element("dl");
    const fact = (name, value) => {
      const shown = element("dd", { dir: "auto" });
      appendVisible(shown, String(value));
      facts.append(element("dt", {}, name), shown);
    };
    fact("expected", expectedWord(row.expected));
    if (row.entity) fact("person", row.entity);
    row.answers.forEach((answer, run) => {
      const part = element("section", { class: `detailed ${answer ? answer.outcome : "absent"}` });
      if (several) part.append(element("h4", {}, marker(run), " ", element("bdi", {}, data.systems[run])));
      if (!answer) {
        part.append(element("p", { class: "note" }, "This sentence is not in this run."));
        content.push(part);
        return;
      }
      if (answer.text) {
        part.append(...longText("p", { class: "translation", ...target }, answer.text, marksOf(answer, cell), answer.length));
      } else part.append(element("p", { class: "nothing" }, "(nothing)"));
      if (answer.error) part.append(...longText("p", { class: "note", dir: "auto" }, `Error: ${answer.error}`, [], 0));
      const said = element("p", { class: "result" }, resultText(answer));
      part.append(said);
      const decided = !cell.draws && answer.evidence.length > 0;
      const reason = answer.reason ? REASON_WORDS[answer.reason] ?? answer.reason : "";
      if (answer.outcome === "wrong") said.append(why(` ${expectedIn(row)}`));
      if (reason && !decided) said.append(why(` ${reason}`));
      if (cell.draws && answer.evidence.length) {
        const samples = element("ul", { class: "samples" });
        for (const sample of answer.evidence) {
          const line = element("li", target);
          appendMarked(line, sample, [], SHOWN_IN_ROW);
          samples.append(line);
        }
        part.append(samples);
      } else if (decided) {
        const line = element("p", { class: "why" }, "decided by ");
        answer.evidence.forEach((words_, number) => {
          const bdi = element("bdi", { lang: cell.target_language });
          appendVisible(bdi, words_.slice(0, 200));
          line.append(number ? ", " : "", bdi);
        });
        if (reason) line.append(`: ${reason}`);
        part.append(line);
      }
      content.push(part);
    });
    for (const [name, value] of Object.entries(row.tags)) fact(name.replaceAll("_", " "), value);
    const own = { ...emptyFilter(), cell: cell.name, sentence: row.id };
    facts.append(element("dt", {}, "sentence"), element("dd", {}, element("a", { href: linkOf(own) }, row.id)));
    content.push(facts);
    const close = element("button", { type: "button", class: "close" }, "Close");
    close.addEventListener("click", () => {
      closeDetail();
      measure();
      draw();
      list.focus({ preventScroll: true });
    });
    detail.replaceChildren(close, ...content);
    detail.hidden = false;
    detail.scrollTop = 0;
    section.classList.add("detailed");
  }

  const why = (text) => element("span", { class: "why" }, text);

  // -- files

  /** A cell of a table; a text that a spreadsheet would take for a formula is kept a text. */
  function csvCell(value) {
    const text = String(value ?? "");
    const safe = /^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  async function csv() {
    const heads = ["benchmark", "from", "to", "sentence", "about", "expected", "source", "context"];
    data.systems.forEach((system) => {
      for (const what of ["translation", "translated as", "outcome", "decided by"]) heads.push(several ? `${what} (${system})` : what);
    });
    const lines = [heads.map(csvCell).join(",")];
    for (let first = 0; first < state.total; first += CHUNK) {
      const found = await source.page(state.filter, first, Math.min(CHUNK, state.total - first));
      for (const row of found.rows) {
        const cell = data.cells[row.cell];
        const values = [cell.benchmark, cell.source_language, cell.target_language, row.id, row.entity, row.expected, row.source, row.context];
        for (const answer of row.answers) {
          values.push(...(answer ? [answer.text, answer.observed, answer.outcome, answer.evidence.join(" | ")] : ["", "", "", ""]));
        }
        lines.push(values.map(csvCell).join(","));
      }
    }
    // The mark at the beginning makes spreadsheets read it as Unicode.
    return `\ufeff${lines.join("\r\n")}\r\n`;
  }

  const download = document.getElementById("download");
  download.addEventListener("click", async () => {
    download.disabled = true;
    const address = URL.createObjectURL(new Blob([await csv()], { type: "text/csv" }));
    const link = element("a", { href: address, download: data.sample ? `sentences-${data.sample.n}-of-${data.sample.all}.csv` : "sentences.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1_000);
    download.disabled = false;
  });

  // -- one language of many

  const places = document.getElementById("place");
  if (places) {
    places.closest("label").hidden = false;
    const showPlace = () => {
      for (const part of document.querySelectorAll("[data-place]")) {
        part.hidden = places.value !== "" && part.dataset.place !== places.value;
      }
    };
    places.addEventListener("change", showPlace);
    showPlace(); // a browser may remember the choice
  }

  // -- what people do

  let typing = 0;
  function changed(event) {
    clearTimeout(typing);
    const wait = event.type === "input" && event.target.type === "search" ? 120 : 0;
    typing = setTimeout(() => {
      state.filter = readControls();
      history.replaceState(null, "", linkOf(state.filter));
      apply();
    }, wait);
  }
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      state.filter = emptyFilter();
      history.replaceState(null, "", linkOf(state.filter));
      apply();
    });
  });

  function goTo(hash, { first = false } = {}) {
    const filter = filterOf(hash);
    if (!filter) return;
    state.filter = filter;
    apply({ select: filter.sentence !== "" });
    if (first || document.activeElement?.closest("#sentences") === null || document.activeElement === document.body) {
      section.scrollIntoView({ block: "start" });
      section.querySelector("h2").focus({ preventScroll: true });
    }
  }
  window.addEventListener("hashchange", () => goTo(location.hash));
  document.addEventListener("click", (event) => {
    // The same number once more: the address does not change, but people expect to get there.
    const link = event.target instanceof Element ? event.target.closest('a[href^="#sentences"]') : null;
    if (link && link.getAttribute("href") === location.hash) goTo(location.hash);
  });

  let waiting = false;
  list.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row && !getSelection()?.toString()) choose(Number(row.id.slice("row-".length)));
  });
  new ResizeObserver(() => {
    resized();
    draw();
  }).observe(list);

  const inField = (target) => target instanceof Element && target.closest("input, select, textarea") !== null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && section.contains(event.target)) {
      if (inField(event.target)) list.focus();
      else if (!detail.hidden) detail.querySelector(".close").click();
      return;
    }
    if (inField(event.target)) return;
    const inList = event.target === list;
    const page = Math.max(1, Math.floor(list.clientHeight / state.rowHeight) - 1);
    const moves = {
      j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page } : {}),
    };
    if (event.key === "/") {
      event.preventDefault();
      form.elements.text.focus();
      form.elements.text.select();
    } else if (event.key in moves) {
      event.preventDefault();
      const next = state.selected < 0 ? Math.floor(list.scrollTop / state.rowHeight) : state.selected + moves[event.key];
      if (!inList) list.scrollIntoView({ block: "nearest" });
      choose(next);
    } else if (inList && (event.key === "Home" || event.key === "End")) {
      event.preventDefault();
      choose(event.key === "Home" ? 0 : state.total - 1);
    } else if (inList && event.key === "Enter") {
      choose(Math.max(0, state.selected));
    }
  });

  const entities = document.getElementById("entities");
  function offerEntities() {
    entities.replaceChildren(...source.entities().slice(0, 2_000).map((name) => element("option", { value: name })));
  }
  offerEntities();

  // A run that is going: the server says when there is more.
  async function watch() {
    try {
      const answer = await fetch("state");
      const now = await answer.json();
      if (now.version !== data.version) {
        Object.assign(data, now);
        source.forget();
        offerEntities();
        apply({ stay: true }); // somebody may be reading
      }
      if (!now.live) return;
    } catch {
      return;
    }
    setTimeout(watch, LIVE_MILLISECONDS);
  }
  if (data.live) setTimeout(watch, LIVE_MILLISECONDS);

  section.hidden = false;
  state.filter = filterOf(location.hash) ?? emptyFilter();
  apply({ select: state.filter.sentence !== "" }).then(() => performance.mark("gendermark"));
  if (filterOf(location.hash)) section.scrollIntoView({ block: "start" });
  window.gendermark = { source, filterOf, linkOf };
})();
