import type { Plan } from "../../runtime/plan/plan.ts"
import type { Report } from "../core/diagnostic.ts"
import { resolvePath } from "../core/load.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { YamlReader } from "../model-test/yaml-reader.ts"
import { ExpectationReader } from "./expectations.ts"
import type {
  Expectation,
  GatewaySuite,
  GatewayTest,
  GatewayTestStep,
  RequestOrder,
  TestGiven,
  WebSocketAct,
} from "./gateway-suite.ts"
import { GivenReader, nothingGiven } from "./given.ts"
import { type TreeFields, TreeReader } from "./tree-reader.ts"
import { filledIn, jsonOf, type TableRow, type Tree, treeOf } from "./value-tree.ts"
import { readSide, withUpgrade } from "./web-sockets.ts"

/** A project that a test file names, compiled. */
export interface TestedProject {
  /** Path of its gateway.conf. */
  readonly config: string
  readonly plan: Plan
  /** Absolute. */
  readonly folder: string
  /** Its models by store. */
  readonly models: GatewaySuite["models"]
}

/** Compiles the project of a test file. `named`: the path in the file, resolved; undefined: the nearest gateway.conf. Undefined: there is no plan, and a finding says why. */
export type ProjectOf = (
  file: SourceFile,
  named: string | undefined,
  at: Span,
) => Promise<TestedProject | undefined>

const documentKeys = ["name", "config", "given", "tests"]
const sentKeys = ["request", "as", "follow", "times", "expect"]
const stepKeys = ["after", ...sentKeys, "websocket"]
const actKeys = ["send", "respond", "close"]
const togetherMax = 1000
const testKeys = ["name", "description", "only", "skip", "given", "each", "steps", ...stepKeys]
const requestKeys = ["method", "path", "headers", "body", "json", "ip", "host"]
const rowsMax = 10_000

/**
 * Reads a file of tests of a gateway (`*.gw.yaml`); one suite for each document. Every mistake is a finding at its place. A document with an error has no
 * suite: a half-read test would be trusted as if it were complete.
 */
export async function readGatewayTests(
  file: SourceFile,
  report: Report,
  projectOf: ProjectOf,
): Promise<readonly GatewaySuite[]> {
  const documents: Tree[] = []
  const yaml = new YamlReader(file, report)
  const errors = report.errors
  yaml.eachDocument((value) => documents.push(treeOf(yaml, value)))
  if (report.errors > errors) return []
  if (documents.length === 0) report.add("SP6012", file.span(0, 0), "this file is empty")
  const suites: GatewaySuite[] = []
  for (const document of documents) {
    const suite = await readDocument(document, file, report, projectOf)
    if (suite !== undefined) suites.push(suite)
  }
  return suites
}

/** What all tests of the first document of a file begin with. Undefined: the file has a mistake, or is empty. */
export async function readGivenOf(
  file: SourceFile,
  report: Report,
  projectOf: ProjectOf,
): Promise<TestGiven | undefined> {
  const [first] = await readGatewayTests(file, report, projectOf)
  return first?.given
}

async function readDocument(
  tree: Tree,
  file: SourceFile,
  report: Report,
  projectOf: ProjectOf,
): Promise<GatewaySuite | undefined> {
  const errors = report.errors
  const reader = new TreeReader(report)
  const fields = reader.fields(tree, "a file of gateway tests", documentKeys)
  if (fields === undefined) return undefined
  const named = fields.get("config")
  const path = reader.text(named, "`config`")
  const resolved = path === undefined ? undefined : resolvePath(file.path, path)
  if (path !== undefined && resolved === undefined) {
    report.add("SP6017", named?.span, `\`${path}\` is outside of the folder of the tests`)
    return undefined
  }
  const project = await projectOf(file, resolved, named?.span ?? tree.span)
  if (project === undefined) return undefined
  const { given, tests } = new DocumentReader(reader, project.plan).read(fields)
  if (report.errors > errors) return undefined
  const name = reader.text(fields.get("name"), "`name`") ?? file.path
  return { ...project, file, name, given, tests }
}

/** Reads the tests of one document. */
class DocumentReader {
  readonly #reader: TreeReader
  readonly #given: GivenReader
  readonly #expectations: ExpectationReader
  readonly #plan: Plan["plan"]

  constructor(reader: TreeReader, plan: Plan) {
    this.#reader = reader
    this.#plan = plan.plan
    this.#given = new GivenReader(reader, plan)
    this.#expectations = new ExpectationReader(reader, plan)
  }

  read(fields: TreeFields): { readonly given: TestGiven; readonly tests: GatewayTest[] } {
    const given = this.#given.read(fields.get("given"), nothingGiven)
    const list = fields.get("tests")
    const items = list === undefined ? [] : this.#reader.items(list, "`tests`")
    if (items.length === 0) this.#reader.report.add("SP6012", fields.span, "this file has no tests")
    return { given, tests: items.flatMap((item, index) => this.#test(item, index, given)) }
  }

  /** A test, or one for each row of `each`. */
  #test(tree: Tree, index: number, given: TestGiven): GatewayTest[] {
    const reader = this.#reader
    const fields = reader.fields(tree, "a test", testKeys)
    if (fields === undefined) return []
    const each = fields.get("each")
    if (each === undefined) {
      const test = this.#one(fields, `test ${index + 1}`, given)
      return test === undefined ? [] : [test]
    }
    const rows = reader.items(each, "`each`")
    if (rows.length === 0) reader.report.add("SP6012", each.span, "this test has no rows")
    if (rows.length > rowsMax) {
      reader.report.add("SP6013", each.span, `\`each\` has more than ${rowsMax} rows`)
      return []
    }
    return rows.flatMap((row) => {
      const values = this.#row(row)
      if (values === undefined) return []
      const filled = reader.fields(filledIn(tree, values, reader.report), "a test", testKeys)
      const test = filled === undefined ? undefined : this.#one(filled, `test ${index + 1}`, given)
      return test === undefined ? [] : [nameWithRow(test, fields, row)]
    })
  }

  #row(tree: Tree): TableRow | undefined {
    const entries = this.#reader.entries(tree, "a row of `each`")
    return entries && new Map([...entries].map(([name, { value }]) => [name, value]))
  }

  #one(fields: TreeFields, unnamed: string, outer: TestGiven): GatewayTest | undefined {
    const reader = this.#reader
    const { errors } = reader.report
    const given = this.#given.read(fields.get("given"), outer)
    const steps = this.#steps(fields, given)
    if (reader.report.errors === errors && steps.every(isSilent))
      reader.report.add("SP6012", fields.span, "this test expects nothing")
    const skip = fields.get("skip")
    return {
      name: reader.text(fields.get("name"), "`name`") ?? unnamed,
      span: fields.span,
      ...{ given, steps },
      isOnly: reader.flag(fields.get("only"), "`only`") ?? false,
      skip: skip === undefined ? undefined : reader.text(skip, "`skip`"),
    }
  }

  #steps(fields: TreeFields, given: TestGiven): GatewayTestStep[] {
    const reader = this.#reader
    const list = fields.get("steps")
    if (list === undefined) {
      if (!fields.has("request")) reader.missing(fields.span, "this test has neither `request` nor `steps`")
      return this.#step(fields, given)
    }
    for (const name of stepKeys)
      if (fields.has(name))
        reader.report.add(
          "SP6005",
          fields.entry(name)?.key,
          `\`${name}\` belongs into a step, because this test has \`steps\``,
        )
    const opened = new Set<string>()
    return reader.items(list, "`steps`").flatMap((item) => {
      const step = reader.fields(item, "a step", [...stepKeys, ...actKeys, "together"])
      if (step === undefined) return []
      if (step.has("together")) return this.#together(step, given)
      if (!step.has("request") && !step.has("after") && !step.has("websocket"))
        reader.missing(item.span, "this step has none of `request`, `after` and `websocket`")
      return this.#step(step, given, opened)
    })
  }

  /** Requests that begin at one moment. */
  #together(fields: TreeFields, given: TestGiven): GatewayTestStep[] {
    const reader = this.#reader
    for (const name of [...sentKeys, "websocket", ...actKeys])
      if (fields.has(name))
        reader.report.add(
          "SP6005",
          fields.entry(name)?.key,
          sentKeys.includes(name)
            ? `\`${name}\` belongs into the list of \`together\``
            : `\`${name}\` is for a step with one request`,
        )
    const items = reader.items(fields.get("together") as Tree, "`together`")
    const together = items.flatMap((item) => {
      const each = reader.fields(item, "a request of `together`", sentKeys)
      if (each === undefined) return []
      if (!each.has("request")) reader.missing(item.span, "this step has no `request`")
      const steps = this.#step(each, given)
      if (steps.some(({ request }) => request?.caller?.login !== undefined))
        reader.missing(item.span, "a browser (`login`) sends one request after the other, not `together`")
      return steps
    })
    if (together.reduce((sum, { times }) => sum + times, 0) > togetherMax)
      reader.report.add("SP6013", fields.span, `\`together\` has more than ${togetherMax} requests`)
    const afterMs = Math.max(0, reader.duration(fields.get("after"), "`after`") ?? 0)
    return [
      {
        span: fields.span,
        afterMs,
        request: undefined,
        webSocket: undefined,
        times: 1,
        expectations: [],
        together,
      },
    ]
  }

  /** `opened`: names of the WebSockets that earlier steps ask for; those of this step are added. */
  #step(fields: TreeFields, given: TestGiven, opened = new Set<string>()): GatewayTestStep[] {
    const reader = this.#reader
    const request = fields.get("request")
    const expect = fields.get("expect")
    const webSocket = this.#webSocket(fields, opened)
    const isAct = request === undefined && fields.has("websocket")
    const expectations: readonly Expectation[] =
      expect === undefined ? [] : this.#expectations.read(expect, isAct ? "websocket" : "request")
    if (expect !== undefined && request === undefined && !isAct && fields.has("after"))
      reader.missing(
        fields.entry("expect")?.key ?? fields.span,
        "`expect` needs a `request` or a `websocket`",
      )
    const sent = request === undefined ? undefined : this.#request(request, fields.get("as"), given)
    if (request !== undefined && sent === undefined) return []
    const follow = reader.flag(fields.get("follow"), "`follow`")
    if (follow !== undefined && sent?.caller?.login === undefined)
      reader.missing(
        fields.entry("follow")?.key ?? fields.span,
        "`follow` is for a caller with `login`: others never follow redirects",
      )
    const headers = webSocket === undefined ? (sent?.headers ?? []) : withUpgrade(sent?.headers ?? [])
    // A browser does not follow the redirect of a WebSocket.
    const order = sent && { ...sent, headers, follows: webSocket === undefined ? follow : false }
    return [
      {
        span: request?.span ?? fields.span,
        afterMs: Math.max(0, reader.duration(fields.get("after"), "`after`") ?? 0),
        ...{ request: order, webSocket, expectations, together: [] },
        times: reader.whole(fields.get("times"), "`times`", 1) ?? 1,
      },
    ]
  }

  /** With a request, the name for later steps; without one, what happens in the WebSocket. */
  #webSocket(fields: TreeFields, opened: Set<string>): WebSocketAct | undefined {
    const reader = this.#reader
    const tree = fields.get("websocket")
    const name = reader.text(tree, "`websocket`")
    const isAct = tree !== undefined && !fields.has("request")
    for (const key of isAct ? ["as", "follow", "times"] : actKeys)
      if (fields.has(key))
        reader.report.add(
          "SP6005",
          fields.entry(key)?.key,
          isAct
            ? `\`${key}\` belongs into the step with the request`
            : `\`${key}\` is for a step with a \`websocket\` and without \`request\``,
        )
    if (tree === undefined || name === undefined) return undefined
    if (!isAct) opened.add(name)
    else if (!opened.has(name)) return reader.unknown(tree.span, "WebSocket", name, [...opened])
    const texts = (key: string) => {
      const value = fields.get(key)
      if (value === undefined) return []
      return reader.oneOrMore(value).flatMap((each) => reader.text(each, `\`${key}\``) ?? [])
    }
    const close = fields.get("close")
    return {
      ...{ name, send: texts("send"), respond: texts("respond") },
      close: close && readSide(close, reader),
      text: `websocket ${name}`,
    }
  }

  /** `GET /orders/1`, or a map. */
  #request(tree: Tree, as: Tree | undefined, given: TestGiven): RequestOrder | undefined {
    const reader = this.#reader
    const caller = as === undefined ? undefined : this.#given.caller(as, given)
    const name = as?.is === "scalar" ? ` as ${as.source}` : ""
    if (caller?.subscription !== undefined)
      this.#checkSubscription(caller.subscription, given, as?.span ?? tree.span)
    if (tree.is !== "map") {
      const text = reader.text(tree, "`request`")
      const [, method, target] = /^(\S+)\s+(\/\S*)$/.exec(text ?? "") ?? []
      if (method === undefined || target === undefined)
        return text === undefined
          ? undefined
          : reader.wrong(tree, "`request` must be a method and a path, for example `GET /orders/1`")
      return {
        method,
        target,
        headers: [],
        body: undefined,
        ip: undefined,
        caller,
        text: `${method} ${target}${name}`,
      }
    }
    const fields = reader.fields(tree, "`request`", requestKeys)
    if (fields === undefined) return undefined
    const target = reader.text(fields.get("path"), "`path`")
    if (target === undefined)
      return fields.has("path") ? undefined : reader.missing(tree.span, "this request has no `path`")
    if (!target.startsWith("/")) return reader.wrong(fields.get("path") ?? tree, "`path` must begin with `/`")
    const method = reader.text(fields.get("method"), "`method`") ?? "GET"
    const host = reader.text(fields.get("host"), "`host`")
    const lines = this.#given.headers(fields.get("headers"))
    const { body, headers } = this.#given.body(
      fields,
      host === undefined ? lines : [["host", host], ...lines],
    )
    const ip = reader.text(fields.get("ip"), "`ip`")
    return { method, target, headers, body, ip, caller, text: `${method} ${target}${name}` }
  }

  #checkSubscription(name: string, given: TestGiven, span: Span): void {
    const known = [...Object.keys(this.#plan.subscriptions), ...given.subscriptions.map((each) => each.name)]
    if (!known.includes(name)) this.#reader.unknown(span, "subscription", name, known)
  }
}

/** Whether a step expects nothing. */
function isSilent({ expectations, together }: GatewayTestStep): boolean {
  return expectations.length === 0 && together.every(isSilent)
}

/** A test of a table needs a name of its own: that of the row's values, unless the name contains them. */
function nameWithRow(test: GatewayTest, fields: TreeFields, row: Tree): GatewayTest {
  const written = fields.get("name")
  if (written?.is === "scalar" && String(written.value).includes("${")) return test
  const values =
    row.is === "map" ? [...row.entries].map(([name, { value }]) => `${name}: ${shortOf(value)}`) : []
  return { ...test, name: `${test.name} (${values.join(", ")})` }
}

function shortOf(tree: Tree): string {
  const text = tree.is === "scalar" ? tree.source : JSON.stringify(jsonOf(tree))
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
