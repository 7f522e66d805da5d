// Builds the front end into dist/: one script and one style sheet, which the C++ build embeds.
// The script's first line holds a digest of the sources; a test compares it, so that dist/ is never
// older than src/.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const hash = createHash("sha256");
for (const name of readdirSync("src").sort()) {
  hash.update(name + "\n");
  hash.update(readFileSync(`src/${name}`));
}
const target = ["chrome123", "firefox120", "safari17.5"];
const common = { target, bundle: true, minify: true, legalComments: "none", charset: "ascii", write: false };
const script = await build({
  ...common,
  entryPoints: ["src/main.ts"],
  format: "iife",
});
const style = await build({ ...common, entryPoints: ["src/style.css"] });
const text = script.outputFiles[0].text;
// The script stands inside a script element: nothing in it may end that.
if (/<\/script|<!--/i.test(text)) throw new Error("the script holds markup");
writeFileSync("dist/report.js", `/* kojak report page; sources sha256 ${hash.digest("hex")} */\n${text}`);
writeFileSync("dist/report.css", style.outputFiles[0].text);
console.log(`dist/report.js ${text.length} bytes, dist/report.css ${style.outputFiles[0].text.length} bytes`);
