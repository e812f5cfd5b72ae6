// `npm run bench [NAME…]`: builds the product and test/bench/*.bench.ts, runs each bench in a process of its own, one after the
// other, and prints one table. A bench prints one JSON object per line on stdout, its talk on stderr:
//   {"what": "…", "value": 1.4, "unit": "×", "spread": "1.3–1.5", "bar": "≥ 1.2", "ok": true}
// Further fields become columns of their own.
import { execFileSync, spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { availableParallelism, cpus } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = fileURLToPath(new URL("../../", import.meta.url))
const outdir = join(root, "dist/bench")

const wanted = process.argv.slice(2)
const names = readdirSync(join(root, "test/bench"))
  .filter((name) => name.endsWith(".bench.ts"))
  .map((name) => name.slice(0, -".bench.ts".length))
  .filter((name) => wanted.length === 0 || wanted.includes(name))

execFileSync(process.execPath, [join(root, "compiler/cli/build.mjs"), "--if-stale"], { stdio: "inherit" })
await build({
  absWorkingDir: root,
  entryPoints: names.map((name) => `test/bench/${name}.bench.ts`),
  outdir,
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20.19",
  entryNames: "[name]",
  outExtension: { ".js": ".mjs" },
  logLevel: "error",
})

const rows = []
let failed = 0
for (const name of names) {
  console.error(`\n== ${name}`)
  if ((await run(join(outdir, `${name}.bench.mjs`))) !== 0) {
    failed += 1
    rows.push({ what: name, value: "failed", unit: "", ok: false })
  }
}

console.log(`\nNode ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model}`)
console.table(
  rows.map(({ what, value, unit = "", spread = "", bar = "", ok, ...more }) => ({
    what,
    value: `${value} ${unit}`.trim(),
    spread,
    ...more,
    bar,
    ok: ok ?? "",
  })),
)
process.exitCode = failed > 0 || rows.some((row) => row.ok === false) ? 1 : 0

async function run(file) {
  const child = spawn(process.execPath, ["--enable-source-maps", file], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = new Promise((resolve) => child.once("close", resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("{")) {
      rows.push(JSON.parse(line))
      console.error(`${rows.at(-1).what}: ${rows.at(-1).value} ${rows.at(-1).unit ?? ""}`)
    } else console.error(line)
  }
  return ended
}
