// Tables that can be sorted by any column: a button in each heading, so that keys work as the mouse does.
"use strict";
for (const table of document.querySelectorAll("table.board")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const upward = head.getAttribute("aria-sort") === "none" ? head.dataset.first !== "descending" : head.getAttribute("aria-sort") === "descending";
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", upward ? "ascending" : "descending");
      const rows = [...body.rows].map((row, place) => ({ row, place, key: row.cells[column].dataset.key ?? "" }));
      const isText = head.dataset.kind === "text";
      rows.sort((one, other) => {
        // What has no value stands last, whichever way.
        if (one.key === "" || other.key === "") return (one.key === "") - (other.key === "") || one.place - other.place;
        const order = isText ? one.key.localeCompare(other.key, "en") : Number(one.key) - Number(other.key);
        return (upward ? order : -order) || one.place - other.place;
      });
      body.append(...rows.map(({ row }) => row));
    });
  });
}
