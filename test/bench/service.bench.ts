// An editor in a project of 3,000 lines and 60 routes, and in one of 1,000 routes: from a keystroke to all findings, and to a completion.
import { setTimeout } from "node:timers/promises"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { keepHeapSmall } from "../../compiler/lsp/small-heap.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

keepHeapSmall()
const keystrokes = 100
/** What the process needs before there is a project. */
const startMb = Math.round(process.memoryUsage().rss / 1e6)

let state = 7
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
  return Math.floor(((state >>> 0) / 2 ** 32) * limit)
}

const model = `model
  schema 1.1
type user
type group
  relations
    define member: [user, group#member]
${Array.from(
  { length: 20 },
  (_, at) => `type doc${at}
  relations
    define parent: [doc${at}]
    define owner: [user]
    define editor: [user, group#member] or owner
    define viewer: [user, group#member] or editor or viewer from parent
`,
).join("")}`

/** Routes with comments and steps, about `lines` lines for each. */
function project(routes: number, lines: number): Map<string, string> {
  const route = (at: number) => `  # What route ${at} is for.
  GET "/r${at}/{id}" {
    require viewer of "doc${at % 20}:\${path.id}" for "user:\${jwt.sub}"
    limit 100 per 1m by jwt.sub
    inbound {
      header set "X-Route" "r${at}"
      when (request.header("x") == "1") {
        respond 403 { body text "no" }
      }
    }
${Array.from({ length: Math.max(0, lines - 11) }, (_, line) => `    # Line ${line}.\n`).join("")}  }
`
  const head = `gateway g { listen 127.0.0.1:8000; trust none }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a }
backend b { url "http://127.0.0.1:9001" }
api a {
  path "/a"
  auth jwt i
  backend b
`
  const text = `${head}${Array.from({ length: routes }, (_, at) => route(at)).join("")}}\n`
  return new Map([
    ["gateway.conf", text],
    ["acme.fga", model],
  ])
}

function print(what: string, values: number[], bar: number): void {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  console.log(
    JSON.stringify({
      ...{ what: `${what}, p95`, value: Number(at(0.95).toPrecision(3)), unit: "ms" },
      ...{ spread: `median ${at(0.5).toPrecision(3)}`, bar: `≤ ${bar} ms`, ok: at(0.95) <= bar },
    }),
  )
}

for (const [routes, lines, bar] of [
  [60, 50, 50],
  [1_000, 11, 150],
] as const) {
  const files = project(routes, lines)
  const service = new LanguageService(new MemoryFiles(files), "gateway.conf")
  let text = files.get("gateway.conf") ?? ""
  const typed: number[] = []
  if ([...(await service.findings()).values()].flat().length > 0) throw new Error("the project has mistakes")
  const [findings, completions]: [number[], number[]] = [[], []]
  for (let stroke = 0; stroke < keystrokes; stroke++) {
    // Four characters are typed in four places, and deleted again.
    const isTyped = stroke % 8 < 4
    const at = isTyped ? below(text.length) : (typed.pop() ?? 0)
    text = `${text.slice(0, at)}${isTyped ? "x" : ""}${text.slice(isTyped ? at : at + 1)}`
    if (isTyped) typed.push(at)
    service.set("gateway.conf", text)
    const start = performance.now()
    await service.findings()
    findings.push(performance.now() - start)
    const asked = performance.now()
    await service.completion("gateway.conf", at)
    completions.push(performance.now() - asked)
  }
  const what = `${routes} routes, ${text.split("\n").length.toLocaleString("en")} lines`
  print(`findings after a keystroke: ${what}`, findings.slice(10), bar)
  print(`completion: ${what}`, completions.slice(10), 30)
  await memory(what)
}

function spaceOf(name: string): number {
  return getHeapSpaceStatistics().find((each) => each.space_name === name)?.space_size ?? 0
}

/** The most that the process needed so far, with nothing but the service in it, and what is left of it after a collection. */
async function memory(what: string): Promise<void> {
  const peak = Math.round((process.resourceUsage().maxRSS * 1_024) / 1e6)
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  // The second one returns the pages that the first one has emptied.
  collect()
  collect()
  // V8 returns the pages in a thread of its own: at once, 80 MB of them may be counted or not.
  await setTimeout(500)
  const mb = (bytes: number) => Math.round(bytes / 1e6)
  const { rss, heapUsed, external } = process.memoryUsage()
  const young = mb(spaceOf("new_space"))
  console.log(
    JSON.stringify({
      ...{ what: `most memory of the process: ${what}`, value: peak, unit: "MB" },
      ...{
        spread: `${startMb} at start, ${mb(rss)} after a collection: ${mb(heapUsed + external)} in use, ${young} for new objects`,
        bar: "≤ 250 MB",
        ok: peak <= 250,
      },
    }),
  )
}
