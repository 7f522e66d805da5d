// Writes src/tables.ts from ../tables.def: the tables of the page's trace, with what each column holds.
//   node tables.mjs           writes it
//   node tables.mjs --check   status 1 where it is another one
import { readFileSync, writeFileSync } from "node:fs";

const folder = new URL(".", import.meta.url).pathname;
const types = { byte: "Uint8Array" };
const tables = [];
for (const line of readFileSync(`${folder}../tables.def`, "utf8").split("\n")) {
  const [, word, list] = /^(TABLE|ROWS|COLUMN|END)\((.*)\)$/.exec(line) ?? [];
  if (word === "COLUMN") {
    const [, name, packed, base, meaning] = /^(\w+), (\w+), (\w*),? ?"(.*?)",/.exec(list);
    tables.at(-1).columns.push({ name, packed, base, meaning });
  } else if (word === "TABLE" || word === "ROWS") {
    tables.push({ name: list.slice(0, list.indexOf(",")), rows: word === "ROWS", columns: [] });
  }
}
let text = `// Written by tables.mjs from expert/page/tables.def, where it says how they are packed.
import type { Table } from "./columns";
`;
for (const { name, rows, columns } of tables) {
  const title = name[0].toUpperCase() + name.slice(1);
  const field = (column, packed, meaning) => `  ${column}: ${types[packed] ?? "Float64Array"}; // ${meaning}\n`;
  text += `\nexport interface ${title}Table {\n`;
  if (rows) text += field("begin", "", "time") + field("end", "", "time");
  for (const column of columns) text += field(column.name, column.packed, column.meaning);
  text += `}\nexport const ${name}Table: Table<${title}Table> = {\n  name: "${name}",\n  columns: [\n`;
  for (const { name: column, packed, base } of columns) text += `    ["${column}", "${packed}"${base ? `, "${base}"` : ""}],\n`;
  text += "  ],\n};\n";
}
const file = `${folder}src/tables.ts`;
if (process.argv[2] === "--check") process.exit(readFileSync(file, "utf8") === text ? 0 : 1);
writeFileSync(file, text);
