// A field above the first long table that hides the rows without the words typed.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll(".searchable table")];
  if (tables.length === 0) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "filter";
  field.placeholder = "Filter all tables: kv, native, linalg …";
  field.setAttribute("aria-label", "Filter all tables of this page");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const table of tables) {
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      table.closest("section").hidden = shown === 0;
    }
  });
  tables[0].closest("section").before(field);
});
