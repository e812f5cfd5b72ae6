import type { TupleKey } from "../../runtime/check/ports.ts"
import type {
  InProcessGateway,
  InProcessOptions,
} from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { World } from "../../runtime/gateway/in-process/world.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Compiled } from "../compile.ts"
import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { MemoryFiles } from "../core/files.ts"
import { Project } from "../core/load.ts"
import type { GatewaySuite, RequestOrder, TestGiven } from "../gateway-test/gateway-suite.ts"
import { readHeaderLine } from "../gateway-test/header-line.ts"
import { jsonObject } from "./json-object.ts"
import type {
  GatewayRequest,
  GatewayTestResults,
  GatewayView,
  ProjectTexts,
  RequestAnswer,
  ShownFile,
  ShownGatewayTest,
} from "./protocol.ts"

/** Opens the gateway of a plan: `openInProcess` of the runtime, which is loaded when the first request needs it. */
type OpenInProcess = (plan: Plan, world: World, options: InProcessOptions) => Promise<InProcessGateway>

/** A compiled project whose gateway can be asked. */
interface OpenedGateway {
  readonly texts: ProjectTexts
  readonly plan: Plan
  readonly models: Compiled["models"]
  /** Tuples of the store files, by digest of their model. */
  readonly tuples: ReadonlyMap<string, readonly TupleKey[]>
}

/** What is read of the files of tests. */
interface ReadTests {
  readonly suites: readonly GatewaySuite[]
  readonly findings: readonly Diagnostic[]
}

const samplesMax = 100

/** Sends requests through the gateway of a project, and runs its tests. Nothing outside is asked: see `runtime/gateway/in-process`. */
export class RequestDesk {
  readonly #load: () => Promise<OpenInProcess>
  #opened: OpenedGateway | undefined
  #tests: Promise<ReadTests> | undefined

  /** `load`: prepares the place for the gateway, and loads it. */
  constructor(load: () => Promise<OpenInProcess>) {
    this.#load = load
  }

  /** The project from now on; undefined: it has no gateway, or an error. */
  open(opened: OpenedGateway | undefined): void {
    this.#opened = opened
    this.#tests = undefined
  }

  /** What requests can be about. Undefined: there is no gateway to ask. */
  async view(): Promise<GatewayView | undefined> {
    const opened = this.#opened
    if (opened === undefined) return undefined
    await this.#load()
    const { suites } = await this.#read(opened)
    return {
      routes: Object.values(opened.plan.plan.routes).map(({ method, path }) => ({ method, path })),
      subscriptions: Object.keys(opened.plan.plan.subscriptions),
      files: suites.map(shownFile),
      samples: suites.flatMap(samplesOf).slice(0, samplesMax),
    }
  }

  /** Runs the tests. Undefined: there is no gateway to ask. */
  async results(): Promise<GatewayTestResults | undefined> {
    const opened = this.#opened
    if (opened === undefined) return undefined
    const openInProcess = await this.#load()
    const { suites, findings } = await this.#read(opened)
    const tests: ShownGatewayTest[] = []
    for (const suite of suites) tests.push(...(await resultsOf(suite, openInProcess)))
    return {
      tests,
      findings: findings.map(({ detail, span }) => ({
        ...{ detail, path: span?.file.path ?? "", line: span?.file.position(span.start).line ?? 1 },
      })),
    }
  }

  /** Sends one request in a world of its own: nothing was counted or cached before. */
  async send(asked: GatewayRequest): Promise<RequestAnswer> {
    const opened = this.#opened
    if (opened === undefined)
      return { kind: "error", message: "the project has no gateway without errors; see the findings" }
    const openInProcess = await this.#load()
    const { sendOrder, worldOf } = await import("../gateway-test/run-suite.ts")
    const { passageDocument } = await import("../gateway-test/passage-document.ts")
    const given = withStoreTuples(await this.#given(opened, asked.file), opened)
    const order = await orderOf(asked, given, opened.plan)
    if (typeof order === "string") return { kind: "error", message: order }
    let gateway: InProcessGateway | undefined
    try {
      gateway = await openInProcess(opened.plan, worldOf(given), {
        environment: given.environment,
        folder: "/",
      })
      const passage = await sendOrder(gateway, order, given)
      return { kind: "passage", passage: await passageDocument(passage, opened.plan) }
    } catch (error) {
      return { kind: "error", message: (error as Error).message }
    } finally {
      gateway?.close()
    }
  }

  async #given(opened: OpenedGateway, path: string): Promise<TestGiven> {
    const { nothingGiven } = await import("../gateway-test/given.ts")
    const { suites } = await this.#read(opened)
    return suites.find(({ file }) => file.path === path)?.given ?? { ...nothingGiven, timeMs: Date.now() }
  }

  #read(opened: OpenedGateway): Promise<ReadTests> {
    this.#tests ??= readTests(opened)
    return this.#tests
  }
}

async function readTests({ texts, plan, models }: OpenedGateway): Promise<ReadTests> {
  const { readGatewayTests } = await import("../gateway-test/test-file.ts")
  const report = new Report()
  const project = new Project(new MemoryFiles(Object.entries(texts)), report)
  const suites: GatewaySuite[] = []
  const projectOf = async () => ({ config: "gateway.conf", plan, folder: "/", models })
  for (const path of Object.keys(texts).filter((each) => /\.gw\.ya?ml$/.test(each))) {
    const file = project.read(path, undefined)
    if (file !== undefined) suites.push(...(await readGatewayTests(file, report, projectOf)))
  }
  return { suites, findings: report.sorted() }
}

async function resultsOf(suite: GatewaySuite, openInProcess: OpenInProcess): Promise<ShownGatewayTest[]> {
  const { OpenGateways, runGatewayTest, worldOf } = await import("../gateway-test/run-suite.ts")
  const gateways = new OpenGateways((plan, environment, folder) =>
    openInProcess(plan, worldOf(suite.given), { environment, folder }),
  )
  const path = suite.file.path
  const lineOf = ({ start }: { readonly start: number }): number => suite.file.position(start).line
  const shown: ShownGatewayTest[] = []
  for (const test of suite.tests) {
    const about = { path, name: test.name, line: lineOf(test.span), skipped: test.skip }
    if (test.skip !== undefined) {
      shown.push({ ...about, passed: true, failures: [] })
      continue
    }
    try {
      const result = await runGatewayTest(await gateways.of(suite, test.given), test)
      const failures = result.failures.map(({ request, what, expected, got, span, why }) => ({
        ...{ request, what, expected, got, why, line: lineOf(span) },
      }))
      shown.push({ ...about, passed: result.passed, failures, error: result.error })
    } catch (error) {
      shown.push({ ...about, passed: false, failures: [], error: (error as Error).message })
    }
  }
  await gateways.close()
  return shown
}

const shownFile = ({ file, name, given }: GatewaySuite): ShownFile => ({
  ...{ path: file.path, name, callers: [...given.callers.keys()] },
})

/** The requests of tests, as far as the form can hold them. */
function samplesOf({ file, tests }: GatewaySuite): GatewayView["samples"] {
  return tests.flatMap(({ name, given, steps }) =>
    steps.flatMap(({ request }) => {
      if (request === undefined) return []
      const { method, target, headers, body, caller } = request
      const as = [...given.callers].find(([, each]) => each === caller)?.[0]
      // A caller that is written in the request itself has no name to choose.
      if (caller !== undefined && as === undefined) return []
      return [
        {
          label: name,
          request: {
            ...{ method, target, as: as ?? "", claims: "", file: file.path },
            headers: headers.map((line) => line.join(": ")).join("\n"),
            body: body?.toString("utf8") ?? "",
          },
        },
      ]
    }),
  )
}

/** Stores for which the tests give no tuples have those of the store files with the same model. */
function withStoreTuples(given: TestGiven, { plan, tuples }: OpenedGateway): TestGiven {
  const stores = Object.entries(plan.plan.authz?.stores ?? {})
  const own = stores.map(
    ([name, { model }]) => [name, given.tuples[name] ?? tuples.get(model) ?? []] as const,
  )
  return { ...given, tuples: Object.fromEntries(own) }
}

/** The request as the tests have it; a text: why it cannot be sent. */
async function orderOf(asked: GatewayRequest, given: TestGiven, plan: Plan): Promise<RequestOrder | string> {
  const { callerNamed } = await import("../gateway-test/named-caller.ts")
  const { method, target, body } = asked
  if (!target.startsWith("/")) return "the path does not start with `/`"
  const headers = linesOf(asked.headers)
  if (typeof headers === "string") return headers
  const claims = jsonObject(asked.claims, "the claims are")
  if (typeof claims === "string") return claims
  const as = asked.as.trim()
  return {
    ...{ method, target, headers, ip: undefined, text: `${method} ${target}` },
    body: body === "" ? undefined : Buffer.from(body),
    caller: as === "" ? undefined : callerNamed(as, claims, given, plan.plan),
  }
}

function linesOf(text: string): RequestOrder["headers"] | string {
  const lines: RequestOrder["headers"][number][] = []
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue
    const field = readHeaderLine(line)
    if (field === undefined) return `\`${line}\` is not a header: write \`name: value\``
    lines.push(field)
  }
  return lines
}
