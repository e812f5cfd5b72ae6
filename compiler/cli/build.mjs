// Builds dist/ from the TypeScript sources. Plain JavaScript, because it runs before anything is built: as npm's `prepare`, and from
// sallyport.mjs when dist/ is missing or older than the sources.
//
// The code is bundled, because loading about 1,000 files of packages takes longer than most commands run. It is split into chunks, because
// a command loads only its own. All outputs are directly in dist/, so that chunks can import each other by `./name.js`.
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { billOf } from "./sbom.mjs"

const root = fileURLToPath(new URL("../../", import.meta.url))
const dist = join(root, "dist")
const stamp = join(dist, "stamp")

/** Output name → source. A worker is a separate entry, found through `imports` in package.json. */
const entries = {
  main: "compiler/cli/main.ts",
  runtime: "runtime/main.ts",
  "pglite-worker": "runtime/store/pglite-worker.mjs",
  "authority-worker": "runtime/acme/authority-worker.ts",
  "body-worker": "runtime/policies/bodies/body-worker.ts",
  "review-worker": "compiler/cli/review-worker.ts",
  "impact-worker": "runtime/impact/impact-worker.ts",
}

/**
 * Pages for browsers by their folder in dist/: a folder with `index.html`, a script and a style sheet, and their worker if they have one. That of the console has the compiler,
 * which the console's own sources may not import.
 */
const pages = {
  console: { source: "runtime/control/console/page", worker: "compiler/playground/console-worker.ts" },
  playground: {
    source: "compiler/playground",
    worker: "compiler/playground/worker.ts",
    node: "compiler/playground/node",
  },
  portal: { source: "runtime/portal/page" },
  // Most readers of the portal never load it.
  "portal/swagger": { source: "runtime/portal/page/swagger" },
}

/** Projects to begin with: the playground has them. */
const examplesFolder = "models/examples"

/** pg's optional native module, which is never installed. */
const external = ["pg-native"]

/** PGlite expects its WebAssembly and the files of PostgreSQL's installation next to its code, which is in dist/. */
const pgliteFiles = ["pglite.wasm", "pglite.data"]
const pgliteFolder = join(root, "node_modules/@electric-sql/pglite")

/** Bundled CommonJS packages call `require`, which an ES module does not have. */
const requireLine =
  'import { createRequire as sallyportRequire } from "node:module";const require = sallyportRequire(import.meta.url);'

/** Only chunks that call `require` get the line: in each of the 60 chunks of a command, it increased the CPU time of the start by 7 %. */
const withRequire = (text) => (/\brequire\b/.test(text) ? requireLine + text : text)

/**
 * If a start builds, chunks of older builds are kept for this time, because a running process may still load them. npm's `prepare` keeps
 * none.
 */
const chunkLifeMs = 3_600_000

/** Builds if dist/ is missing or was built from other sources. Returns whether it built. */
export async function ensureBuilt() {
  const digest = sourcesDigest()
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return false
  await build(digest, chunkLifeMs)
  return true
}

async function build(digest, keepMs) {
  const esbuild = await import("esbuild")
  const present = Object.entries(entries).filter(([, source]) => existsSync(join(root, source)))
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(present),
    outdir: dist,
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "error",
  })
  const built = []
  for (const [name, page] of Object.entries(pages))
    if (existsSync(join(root, page.source)))
      built.push([name, page.source, await buildPage(esbuild, name, page)])
  // Its process keeps half a gigabyte, and so does packing the database.
  await esbuild.stop()
  await publishDatabase()
  for (const [name, source, page] of built) publishPage(name, source, page, keepMs)
  const inputs = Object.assign(
    {},
    ...[result, ...built.map(([, , page]) => page)].map((each) => each.metafile.inputs),
  )
  publish(result, inputs, digest, keepMs)
}

/** A page in chunks for browsers. Their names contain their hash, so that browsers may keep them. */
function buildPage(esbuild, name, { source, worker, node }) {
  return esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      app: `${source}/app.tsx`,
      style: `${source}/style.css`,
      ...(worker !== undefined && existsSync(join(root, worker)) ? { worker } : {}),
    },
    outdir: join(dist, name),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    // The style sheets use `light-dark()`.
    target: ["chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: node === undefined ? [] : [replaceNode(join(root, node))],
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "error",
  })
}

/** `node:fs/promises` becomes `fs-promises.ts` of a folder. A module or a name that the folder lacks fails the build. */
function replaceNode(folder) {
  return {
    name: "replace-node",
    setup({ onResolve }) {
      onResolve({ filter: /^node:/ }, ({ path }) => ({
        path: join(folder, `${path.slice("node:".length).replaceAll(/[/_]/g, "-")}.ts`),
      }))
    },
  }
}

/** Writes a page with compressed copies, `index.html` last, because it names the others. Older files stay as chunks of the command do. */
function publishPage(name, source, { outputFiles }, keepMs) {
  const folder = join(dist, name)
  mkdirSync(folder, { recursive: true })
  const nameOf = (start, ending) =>
    outputFiles
      .map(({ path }) => basename(path))
      .find((each) => each.startsWith(start) && each.endsWith(ending))
  const template = readFileSync(join(root, source, "index.html"), "utf8")
  const examples = template.includes("EXAMPLES") ? examplesFile() : undefined
  const page = template
    .replace("STYLE", nameOf("style-", ".css"))
    .replace("SCRIPT", nameOf("app-", ".js"))
    .replace("WORKER", nameOf("worker-", ".js"))
    .replace("EXAMPLES", examples?.[0])
  const files = [
    ...outputFiles.map(({ path, contents }) => [basename(path), contents]),
    ...(examples === undefined ? [] : [examples]),
    ["index.html", page],
  ]
  for (const [file, contents] of files) {
    replaceFile(join(folder, `${file}.br`), brotliCompressSync(contents))
    replaceFile(join(folder, `${file}.gz`), gzipSync(contents, { level: 9 }))
    replaceFile(join(folder, file), contents)
  }
  const current = new Set(files.map(([file]) => file))
  for (const { name: file } of readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile())) {
    const path = join(folder, file)
    if (current.has(file.replace(/\.(?:br|gz)$/, ""))) continue
    if (Date.now() - statSync(path).mtimeMs >= keepMs) rmSync(path, { force: true })
  }
}

/** Name and content of a file with the projects of models/examples as JSON, with the title of each README. */
function examplesFile() {
  const folder = join(root, examplesFolder)
  const examples = readdirSync(folder)
    .sort()
    .map((name) => {
      const paths = filesIn(join(folder, name))
        .map((path) => path.slice(join(folder, name).length + 1))
        .sort()
      const text = (path) => readFileSync(join(folder, name, path), "utf8")
      const title = /^# (.+)$/m.exec(text("README.md"))?.[1] ?? name
      const texts = Object.fromEntries(
        paths.filter((path) => path !== "README.md").map((path) => [path, text(path)]),
      )
      return { name, title, texts }
    })
  // Models first: a gateway alone has nothing to ask.
  const hasModel = ({ texts }) => Object.keys(texts).some((path) => path.endsWith(".fga"))
  const json = JSON.stringify([...examples.filter(hasModel), ...examples.filter((each) => !hasModel(each))])
  return [`examples-${createHash("sha256").update(json).digest("hex").slice(0, 8)}.json`, json]
}

/** Paths of the files below a folder; without those with a dot, as of `.sallyport`, where the commands keep their data. */
function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? filesIn(path) : [path]
    })
}

/**
 * Renames complete files into place, chunks before the entries that name them: a process that starts meanwhile sees either the old build or
 * the new one.
 */
function publish(result, inputs, digest, keepMs) {
  mkdirSync(dist, { recursive: true })
  const isEntry = (file) => basename(file.path, ".js") in entries
  for (const name of pgliteFiles)
    replaceFile(join(dist, name), readFileSync(join(pgliteFolder, "dist", name)))
  for (const file of [...result.outputFiles].sort((a, b) => Number(isEntry(a)) - Number(isEntry(b))))
    replaceFile(file.path, withRequire(file.text))
  const packages = packagesOf(inputs)
  replaceFile(join(dist, "licences.txt"), licencesOf(packages))
  replaceFile(
    join(dist, "sbom.cdx.json"),
    billOf(readJson("package.json"), packages, process.env.SOURCE_DATE_EPOCH),
  )
  replaceFile(join(dist, "meta.json"), JSON.stringify(result.metafile))
  replaceFile(stamp, digest)
  rmSync(join(dist, "cache"), { recursive: true, force: true })
  const current = new Set(result.outputFiles.map((file) => basename(file.path)))
  for (const name of readdirSync(dist)) {
    const path = join(dist, name)
    if (!name.endsWith(".js") || current.has(name)) continue
    if (Date.now() - statSync(path).mtimeMs >= keepMs) rmSync(path, { force: true })
  }
}

/** A new embedded database, packed once for each version of PGlite. A clone without the store's sources needs none. */
async function publishDatabase() {
  if (!existsSync(join(root, entries["pglite-worker"]))) return
  const { version } = JSON.parse(readFileSync(join(pgliteFolder, "package.json"), "utf8"))
  const packedBy = join(dist, "database.version")
  if (existsSync(packedBy) && readFileSync(packedBy, "utf8") === version) return
  mkdirSync(dist, { recursive: true })
  const { packDatabase } = await import("./pack-database.mjs")
  replaceFile(join(dist, "database.br"), await packDatabase())
  replaceFile(packedBy, version)
}

/** The packages whose code is in dist/, with the files of it, by their folders. An installation from npm has no package-lock.json. */
function packagesOf(inputs) {
  const used = new Map()
  for (const path of Object.keys(inputs)) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
    if (folder !== undefined) used.set(folder, [...(used.get(folder) ?? []), path.slice(folder.length + 1)])
  }
  const locked = existsSync(join(root, "package-lock.json")) ? readJson("package-lock.json").packages : {}
  return [...used]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, files]) => {
      const { name, version, license } = readJson(join(folder, "package.json"))
      return { folder, files, name, version, license, integrity: locked[folder]?.integrity }
    })
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"))
}

/**
 * The licences of these packages: bundled packages are not installed, and most licences must be distributed with the code. webpack writes those of what
 * a file was bundled from beside the file.
 */
function licencesOf(packages) {
  return packages
    .map(({ folder, files, name, version, license }) => {
      const beside = files.map((file) => `${file}.LICENSE.txt`)
      const named = readdirSync(join(root, folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file))
      const all = [...named, ...beside.filter((file) => existsSync(join(root, folder, file)))]
      const texts = all.map((file) => readFileSync(join(root, folder, file), "utf8").trim())
      return [`${name} ${version} (${license})`, ...texts].join("\n\n")
    })
    .join(`\n\n${"-".repeat(80)}\n\n`)
}

function replaceFile(path, contents) {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}

/**
 * A digest of names, sizes and times of all sources of dist/, because reading all of them would slow down every start. The two files that npm writes anew
 * without a change (`npm prune`) by their content.
 */
function sourcesDigest() {
  const sources = ["compiler", "runtime"]
    .flatMap((folder) => filesIn(join(root, folder)))
    .filter((path) => /\.(tsx?|mjs|json|css|html)$/.test(path))
  const examples = join(root, examplesFolder)
  if (existsSync(examples)) sources.push(...filesIn(examples))
  const hash = createHash("sha256")
  for (const path of sources.sort()) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${path.slice(root.length)}\0${size}\0${mtimeMs}\n`)
  }
  for (const path of ["package.json", "package-lock.json"].map((name) => join(root, name)))
    if (existsSync(path)) hash.update(readFileSync(path))
  return hash.digest("hex")
}

/** `npm ci --omit=dev` in a clone has no esbuild. The installation must not fail because of that; the start reports what is missing. */
async function prepare() {
  try {
    if (process.argv.includes("--if-stale")) await ensureBuilt()
    else await build(sourcesDigest(), 0)
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") {
      if (!error.errors) console.error(error)
      process.exitCode = 1
      return
    }
    console.error(
      "sallyport: not built, because the development packages are not installed (run `npm ci` without --omit=dev).",
    )
  }
}

if (
  process.argv[1] &&
  realpathSync(process.argv[1]) === realpathSync(join(dirname(fileURLToPath(import.meta.url)), "build.mjs"))
)
  await prepare()
