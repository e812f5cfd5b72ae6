import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { bind } from "../../compiler/gateway/bind.ts"
import { checkNames } from "../../compiler/gateway/check/names.ts"
import { checkNetworks } from "../../compiler/gateway/check/networks.ts"
import { loadDocuments } from "../../compiler/gateway/include.ts"
import { lower } from "../../compiler/gateway/lower.ts"
import { readStores } from "../../compiler/gateway/models.ts"
import { readPolicyFiles } from "../../compiler/gateway/policy-files.ts"
import { readPortalFiles } from "../../compiler/gateway/portal-files.ts"
import { Program } from "../../compiler/gateway/program.ts"
import { readSchemaFiles } from "../../compiler/gateway/schema-files.ts"
import { tokenize } from "../../compiler/gateway/tokens.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import { planFormat } from "../../runtime/plan/plan.ts"
import { readPlan } from "../../runtime/plan/read.ts"
import { compile } from "../compile.ts"

// A thousand routes and a hundred types, from text to a plan: in a process that has compiled before, as an editor or `dev` does, and as a
// whole command.

const rounds = 15
const warmUp = 5
const apis = 100
const routesPerApi = 10
/** With `user` and `team` as many as a model may have. */
const types = 98

const model = `model
  schema 1.1

type user

type team
  relations
    define member: [user]

${Array.from(
  { length: types },
  (_, n) => `type t${n}
  relations
    define owner: [user]
    define parent: [t${(n + types - 1) % types}]
    define editor: [user, team#member] or owner
    define viewer: [user, team#member] or editor or viewer from parent
`,
).join("\n")}`

function api(n: number): string {
  const operations = Array.from(
    { length: routesPerApi },
    (_, r) =>
      `  GET "/r${r}/{id}" { require viewer of "t${n % types}:\${path.id}" for "user:\${jwt.sub}"; inbound { header set "X-R" "r${r}-\${path.id}" } }`,
  )
  return `api a${n} {
  path "/a${n}"
  auth jwt acme { claim scope has "a${n}.read" }
  limit 100 per 1m by jwt.sub
  backend orders
  inbound {
    header set "X-User" "\${jwt.sub}"
    when (request.header("X-Debug") == "1") { respond 403 }
  }
${operations.join("\n")}
}`
}

const gatewayOf = (count: number): string => `gateway acme { listen 127.0.0.1:8000; trust none }
authz { store acme { model "acme.fga" } }
issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience orders }
backend orders { url "http://127.0.0.1:9000" }
${Array.from({ length: count }, (_, n) => api(n)).join("\n")}
`
const gateway = gatewayOf(apis)

function report(what: string, times: readonly number[], most: number, unit = "ms"): void {
  const sorted = [...times].sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] as number
  const spread = `${Math.round(sorted[0] as number)}–${Math.round(sorted.at(-1) as number)}`
  const value = Math.round(median)
  console.log(JSON.stringify({ what, value, unit, spread, bar: `≤ ${most}`, ok: median <= most }))
}

const files = new MemoryFiles([
  ["gateway.conf", gateway],
  ["acme.fga", model],
])

/** Milliseconds of each phase of one compilation, as compiler/compile.ts strings them together. */
function phases(): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  let last = performance.now()
  const done = <Result>(phase: string, result: Result): Result => {
    const now = performance.now()
    times.set(phase, now - last)
    last = now
    return result
  }
  const found = new Report()
  const project = new Project(files, found)
  done("lex", tokenize(gateway))
  const documents = done("lex and parse", loadDocuments(project, "gateway.conf", found))
  const program = done("bind", new Program(bind(documents, found), project.complete, found))
  checkNames(program, found)
  checkNetworks(program, found)
  done("check", undefined)
  const stores = done("model", readStores(program, project, found))
  const policyFiles = readPolicyFiles(program, project, undefined, found)
  const schemaFiles = readSchemaFiles(program, project, undefined, found)
  const named = { policyFiles, schemaFiles, portalFiles: readPortalFiles(program, project, found) }
  const { body, origins } = done("lower", lower(program, stores, new Map(), named, {}, found))
  done("seal", readPlan({ format: planFormat, digest: digestOf(body), plan: body, origins }))
  return times
}

const runs: ReadonlyMap<string, number>[] = []
const warm: number[] = []
for (let round = 0; round < warmUp + rounds; round++) {
  const start = performance.now()
  const { plan } = compile(files, "gateway.conf")
  if (plan === undefined || Object.keys(plan.plan.routes).length !== apis * routesPerApi)
    throw new Error("no plan")
  if (round >= warmUp) {
    warm.push(performance.now() - start)
    runs.push(phases())
  }
}
report(`compile ${apis * routesPerApi} routes and ${types + 2} types, warm`, warm, 300)
const medians = [...(runs[0]?.keys() ?? [])].map((phase) => {
  const times = runs.map((run) => run.get(phase) ?? 0).sort((a, b) => a - b)
  return `${phase} ${Math.round(times[times.length >> 1] ?? 0)}`
})
console.error(
  `${tokenize(gateway).tokens.length} tokens of gateway.conf; medians of its phases in ms: ${medians.join(", ")}; load ${loadavg()[0]?.toFixed(1)}`,
)

/** CPU time in ms of one compilation of an API in which each operation has its own `auth subscription`. */
function ownKeys(operations: number): number {
  const routes = Array.from({ length: operations }, (_, n) => `  GET "/r${n}" { auth subscription }`)
  const text = `gateway acme { listen 127.0.0.1:8000; trust none }
backend orders { url "http://127.0.0.1:9000" }
api orders {
  path "/orders"
  backend orders
${routes.join("\n")}
}
`
  const start = process.cpuUsage()
  const { plan } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  const { user, system } = process.cpuUsage(start)
  if (plan === undefined || Object.keys(plan.plan.routes).length !== operations) throw new Error("no plan")
  return (user + system) / 1000
}

// The time was once quadratic: 72 s for the 8,000. Its growth does not depend on the machine.
const manyOperations = 8_000
const fewOperations = 1_000
ownKeys(fewOperations)
const growths = Array.from({ length: 5 }, () => {
  const few = ownKeys(fewOperations) / fewOperations
  return ownKeys(manyOperations) / manyOperations / few
}).sort((one, other) => one - other)
const growth = growths[2] as number
console.log(
  JSON.stringify({
    what: `an own \`auth subscription\` in ${manyOperations} operations: CPU of each, against ${fewOperations}`,
    value: growth.toFixed(1),
    unit: "×",
    spread: growths.map((each) => each.toFixed(1)).join(" "),
    bar: "≤ 2",
    ok: growth <= 2,
  }),
)

/** At its end, the command writes the most memory that it had, in KB. */
const measured =
  "data:text/javascript,process.on('exit',()=>process.stderr.write('\\n'+process.resourceUsage().maxRSS))"

/** Wall time of a whole command, in ms, and the most memory that it had, in MB. */
function command(
  rounds: number,
  ...argv: readonly string[]
): { readonly ms: number; readonly megabytes: number }[] {
  return Array.from({ length: rounds }, () => {
    const start = performance.now()
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--import", measured, "compiler/cli/sallyport.mjs", ...argv],
      { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
    )
    if (status !== 0) throw new Error(stderr)
    return { ms: performance.now() - start, megabytes: Number(stderr.split("\n").at(-1)) / 1024 }
  })
}

const timesOf = (runs: readonly { readonly ms: number }[]) => runs.map(({ ms }) => ms)

const folder = mkdtempSync(join(tmpdir(), "compile-"))
try {
  const entry = join(folder, "gateway.conf")
  writeFileSync(join(folder, "acme.fga"), model)
  writeFileSync(entry, gateway)
  report(
    "the same as `sallyport validate`, whole process",
    timesOf(command(9, "validate", "--config", entry)),
    300,
  )
  writeFileSync(entry, gatewayOf(10 * apis))
  const large = command(5, "validate", "--config", entry)
  const what = `\`sallyport validate\` of ${10 * apis * routesPerApi} routes, whole process`
  report(what, timesOf(large), 2_000)
  report(
    `${what}: memory`,
    large.map(({ megabytes }) => megabytes),
    400,
    "MB",
  )
  report("`sallyport --version`, whole process", timesOf(command(9, "--version")), 150)
} finally {
  rmSync(folder, { recursive: true })
}
