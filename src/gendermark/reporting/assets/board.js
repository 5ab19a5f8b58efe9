// Tables that can be sorted by any column: a button in each heading, so that keys work as the mouse does.
"use strict";
for (const table of document.querySelectorAll("main table")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // The number of a cell stands before its interval; what has none comes last.
  const keyOf = (row, column) => (row.cells[column].firstChild?.textContent ?? "").trim().replace("−", "-");
  const isEmpty = (key) => key === "" || key === "–";
  heads.forEach((head, column) => {
    const isText = [...body.rows].some((row) => !isEmpty(keyOf(row, column)) && Number.isNaN(parseFloat(keyOf(row, column))));
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const upward = before === "none" ? isText || button.textContent === "rank" : before === "descending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", upward ? "ascending" : "descending");
      const rows = [...body.rows].map((row, place) => ({ row, place, key: keyOf(row, column) }));
      rows.sort((one, other) => {
        if (isEmpty(one.key) || isEmpty(other.key)) return isEmpty(one.key) - isEmpty(other.key) || one.place - other.place;
        const order = isText ? one.key.localeCompare(other.key, "en") : parseFloat(one.key) - parseFloat(other.key);
        return (upward ? order : -order) || one.place - other.place;
      });
      body.append(...rows.map(({ row }) => row));
    });
  });
}
