import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compile } from "../../compiler/compile.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"

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

const gateway = `gateway acme { listen 127.0.0.1:8000; trust none }
authz { store acme { model "acme.fga" } }
issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience orders }
backend orders { url "http://127.0.0.1:9000" }
${Array.from({ length: apis }, (_, n) => api(n)).join("\n")}
`

function report(what: string, times: readonly number[], barMs: number): void {
  const sorted = [...times].sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] as number
  const spread = `${Math.round(sorted[0] as number)}–${Math.round(sorted.at(-1) as number)}`
  const value = Math.round(median)
  console.log(JSON.stringify({ what, value, unit: "ms", spread, bar: `≤ ${barMs}`, ok: median <= barMs }))
}

const files = new MemoryFiles([
  ["gateway.conf", gateway],
  ["acme.fga", model],
])
const warm: number[] = []
for (let round = 0; round < warmUp + rounds; round++) {
  const start = performance.now()
  const { plan } = compile(files, "gateway.conf")
  if (plan === undefined || Object.keys(plan.plan.routes).length !== apis * routesPerApi)
    throw new Error("no plan")
  if (round >= warmUp) warm.push(performance.now() - start)
}
report(`compile ${apis * routesPerApi} routes and ${types + 2} types, warm`, warm, 300)

const folder = mkdtempSync(join(tmpdir(), "compile-"))
try {
  writeFileSync(join(folder, "gateway.conf"), gateway)
  writeFileSync(join(folder, "acme.fga"), model)
  const whole: number[] = []
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    execFileSync(
      process.execPath,
      ["compiler/cli/sallyport.mjs", "validate", "--config", join(folder, "gateway.conf")],
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    )
    whole.push(performance.now() - start)
  }
  report("the same as `sallyport validate`, whole process", whole, 1000)
} finally {
  rmSync(folder, { recursive: true })
}
