// Beside the explorer: how far the runs are, and what was found so far. The server is asked again while the page is open.

(() => {
  const MILLISECONDS = 1_000;
  const STATES = { finished: "finished", running: "running", stopped: "stopped in the middle" };
  const runs = document.getElementById("run-list");
  const findings = document.getElementById("findings");
  if (!runs || !findings) return;
  let shown = "";

  function make(name, attributes = {}, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  const letterOf = (run) => (run < 26 ? String.fromCharCode(65 + run) : `S${run + 1}`);
  const marker = (run) => make("span", { class: `marker run-${run % 8}` }, letterOf(run));
  const isolated = (text) => make("bdi", {}, text);

  function runLine(run, place, several) {
    const line = make("li");
    if (several) line.append(marker(place), " ");
    line.append(isolated(run.system), ` – ${STATES[run.state]}`);
    if (run.state === "finished") line.append(run.written ? `, ${run.written}` : "");
    else {
      const bar = make("progress", { max: run.wanted, value: run.done, "aria-label": "progress of this run" });
      line.append(`, ${run.done} of ${run.wanted} parts written`);
      if (run.now) line.append(`; now ${run.now}`);
      if (run.state === "stopped") line.append("; rerun the same command to resume");
      line.append(" ", bar);
    }
    line.append(make("br"), make("small", {}, isolated(run.directory)));
    return line;
  }

  function findingsOf(found, systems) {
    const shown = found.systems.map((one) => {
      const part = make("div");
      if (systems.length > 1) part.append(make("h4", {}, marker(one.run), " ", isolated(systems[one.run].system)));
      for (const sentence of one.sentences) part.append(make("p", {}, sentence));
      for (const warning of one.warnings) part.append(make("p", { class: "warning" }, warning));
      return part;
    });
    return [make("h3", {}, make("a", { href: found.link }, found.place)), make("div", { class: "finding" }, ...shown)];
  }

  function draw(status) {
    const several = status.runs.length > 1;
    const lines = status.runs.map((run, place) => runLine(run, place, several));
    const problems = status.problems.map((problem) => make("p", { class: "warning" }, `${problem}.`));
    runs.replaceChildren(make("ul", { class: "runs" }, ...lines), ...problems);
    const parts = status.findings.flatMap((found) => findingsOf(found, status.runs));
    findings.replaceChildren(...(parts.length ? parts : [make("p", {}, "No results yet; they appear here as they are written.")]));
  }

  async function look() {
    try {
      const answer = await fetch("status");
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      if (text !== shown) draw(JSON.parse(text));
      shown = text;
    } catch {
      runs.replaceChildren(make("p", { class: "warning" }, "The server has stopped. Sentences already loaded can still be read."));
      shown = "";
      return;
    }
    setTimeout(look, MILLISECONDS);
  }
  look();
})();
