// Builds the front end into a folder, dist/ unless another is named: one script and one style sheet,
// which the C++ build embeds. The script's first line holds digests of the sources and of what was
// made of them; a test compares both, so that dist/ is neither older than src/ nor edited by hand.
// src/tables.ts is written from ../tables.def first; where another folder is named, it must be so already.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = process.argv[2] ?? "dist";
execFileSync(process.execPath, ["tables.mjs", ...(folder === "dist" ? [] : ["--check"])]);
const sources = ["../tables.def", "build.mjs", "package-lock.json", "tables.mjs", "tsconfig.json", ...readdirSync("src").sort().map((name) => `src/${name}`)];
const digest = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

const target = ["chrome123", "firefox120", "safari17.5"];
const common = { target, bundle: true, minify: true, legalComments: "none", charset: "ascii", write: false };
const script = (await build({ ...common, entryPoints: ["src/main.ts"], format: "iife" })).outputFiles[0].text;
const style = (await build({ ...common, entryPoints: ["src/style.css"] })).outputFiles[0].text;
// The script stands inside a script element: nothing in it may end that.
if (/<\/script|<!--/i.test(script)) throw new Error("the script holds markup");

const made = digest(...sources.flatMap((name) => [`${name}\n`, readFileSync(name)]));
const head = `/* kojak report page; sources sha256 ${made}; output sha256 ${digest(script, style)} */`;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/report.js`, `${head}\n${script}`);
writeFileSync(`${folder}/report.css`, style);
console.log(`${folder}/report.js ${script.length} bytes, ${folder}/report.css ${style.length} bytes`);
