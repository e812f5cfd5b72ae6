import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { resolve } from "node:path"
import type {
  ExplainRequestAnswer,
  ExplainRequestQuestion,
  RefusalAnswer,
} from "../../../runtime/control/api.ts"
import type { RequestQuestion } from "../../../runtime/gateway/explain/request-explanation.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { catalogue } from "../../core/catalogue.ts"
import { didYouMean } from "../../core/nearest.ts"
import { explainCode } from "../../render/explain.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, type ProjectArgs, readClaims, readFormat, readProject, textOf } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { compilePlan } from "../project.ts"
import { connect, expectOk, orWithout } from "../remote.ts"
import { refusalText, requestText } from "../views/explain-request.ts"

/** What answers: a running Sallyport, the compiled text, or a plan file. */
type ExplainSource =
  | { readonly kind: "control"; readonly url: string | undefined }
  | { readonly kind: "text"; readonly project: ProjectArgs }
  | { readonly kind: "plan"; readonly file: string }

/** `refusal` needs the control listener: refused requests are kept in the memory of the process that refused them. */
type ExplainArgs =
  | { readonly what: "code"; readonly code: string }
  | {
      readonly what: "request"
      readonly question: ExplainRequestQuestion
      /** The file with the request body. */
      readonly body: string | undefined
      readonly source: ExplainSource
      readonly format: "text" | "json"
    }
  | {
      readonly what: "refusal"
      readonly id: string
      readonly source: ExplainSource & { readonly kind: "control" }
      readonly format: "text" | "json"
    }

const example = "For example: sallyport explain request GET /v1/orders/1 --as ann"

const explainLine: CommandLine<ExplainArgs> = {
  operands: [
    ["<what>", "the code of a finding, e.g. SP2001, or the word `request`"],
    ["[request...]", "after `request`: method and path, with its query"],
  ],
  options: [
    ["--id <id>", "explain a refused request by its request id, instead of by method and path"],
    ["--host <name>", "host of the request (default: localhost)"],
    ["--as <user>", "assume that authentication succeeds, with this `sub` or subscription name"],
    ["--claim <name=value...>", "another claim of that token; the value is JSON or text"],
    ["--token <token>", "token, sent where the route expects it"],
    ["--key <key>", "subscription key, sent where the route expects it"],
    ["-H, --header <line...>", "request header, `name: value`"],
    ["--body <file>", "file with the request body"],
    ["--websocket", "add the headers that request a WebSocket"],
    ["--ip <address>", "client address (default: 127.0.0.1)"],
    ["--config <file>", "compile this file and explain offline, without a running Sallyport"],
    ["--plan <file>", "explain offline from the plan in this file"],
    ["--url <control>", "address of the control API (default: SALLYPORT_CONTROL_URL)"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport explain SP2001", "what a finding means and how to correct it"],
    [
      "sallyport explain request GET /v1/orders/1 --as ann",
      "show the route, each step, the limits and the response",
    ],
    [
      "sallyport explain request GET /v1/orders/1 --config gateway.conf",
      "the same offline: relations and counters are not known",
    ],
    ["sallyport explain request --id 0b9f7c2e-5d0a-4f1c-9a37-2f9c8f3b1e60", "why a request was refused"],
  ],
  parse([what, method, target, ...more], options) {
    if (what === undefined)
      throw new CliError("explain needs the code of a finding, e.g. SP2001, or a request", example)
    if (what !== "request") {
      // An option of `explain request` after a code would have no effect, so it is refused.
      if (method !== undefined || Object.keys(options).length > 0)
        throw new CliError("`explain CODE` takes no options; they belong to `explain request`", example)
      return { what: "code", code: what.toUpperCase() }
    }
    const format = readFormat(options, ["text", "json"])
    const source = sourceOf(options)
    const id = filled(options, "id")
    if (id !== undefined) {
      // A plan without a process has refused nothing.
      if (method !== undefined || source.kind !== "control")
        throw new CliError(
          "--id takes no method or path, and needs the running Sallyport that refused the request",
          "For example: sallyport explain request --id ID",
        )
      return { what: "refusal", id, source, format }
    }
    if (method === undefined || target === undefined || more.length > 0)
      throw new CliError("explain request needs a method and a path", example)
    if (!target.startsWith("/"))
      throw new CliError(`the path \`${target}\` does not start with \`/\``, example)
    const question = questionOf(method.toUpperCase(), target, options)
    return { what: "request", question, body: filled(options, "body"), source, format }
  },
}

/** `--as` assumes a successful authentication, so a credential beside it would have no meaning. */
function questionOf(method: string, target: string, options: OptionValues): ExplainRequestQuestion {
  const as = filled(options, "as")
  const claims = readClaims(options)
  if (as === undefined && Object.keys(claims).length > 0)
    throw new CliError("--claim needs --as: it adds a claim to the token of that user", example)
  const given = { token: filled(options, "token"), key: filled(options, "key") }
  if (as !== undefined && (given.token !== undefined || given.key !== undefined))
    throw new CliError("--as cannot be combined with a token or key", "Remove all but one of them.")
  const headers = listOf(options, "header").map((line): [string, string] => {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new CliError(`\`${line}\` is not a header`, 'Write `--header "name: value"`.')
    return [name, value]
  })
  if (options["websocket"] === true) {
    if (method !== "GET")
      // The headers that a client library adds by itself, so that the route is treated like a WebSocket.
      throw new CliError("a WebSocket request has the method GET", "Write GET, or remove --websocket.")
    headers.push(...upgradeHeaders)
  }
  const ip = filled(options, "ip")
  if (ip !== undefined && isIP(ip) === 0)
    throw new CliError(`\`${ip}\` is not an IP address`, "For example: --ip 203.0.113.7")
  const said = { host: filled(options, "host"), ip, ...given }
  return {
    ...{ method, target, headers },
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
    ...(as === undefined ? {} : { claims: { sub: as, ...claims } }),
  }
}

/** RFC 6455 §4.1; the key can be any 16 bytes. */
const upgradeHeaders: readonly [string, string][] = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "c2FsbHlwb3J0LWV4cGxhaQ=="],
]

/** Where the plan comes from: the running Sallyport, a text that is compiled, or a plan file. */
function sourceOf(options: OptionValues): ExplainSource {
  const url = filled(options, "url")
  const plan = filled(options, "plan")
  const config = filled(options, "config")
  if ([url, plan, config].filter((given) => given !== undefined).length > 1)
    throw new CliError("--config, --plan and --url exclude each other", "Remove all but one of them.")
  if (config !== undefined) return { kind: "text", project: readProject(options) }
  return plan === undefined ? { kind: "control", url } : { kind: "plan", file: plan }
}

/** The text of an option; an empty text counts as absent. */
function filled(options: OptionValues, name: string): string | undefined {
  return textOf(options, name) || undefined
}

function listOf(options: OptionValues, name: string): readonly string[] {
  const value = options[name]
  return Array.isArray(value) ? (value as readonly string[]) : []
}

type RequestArgs = ExplainArgs & { readonly what: "request" }

/** The three commands behind one word. */
export const explain = command(explainLine, async (args, io) => {
  if (args.what === "code") io.out(textOfCode(args.code))
  else if (args.what === "refusal") {
    const remote = await connect(io, args.source.url)
    const path = `/v1/refusals/${encodeURIComponent(args.id)}`
    const answer = expectOk<RefusalAnswer>(await remote.request("GET", path))
    io.out(args.format === "json" ? jsonText(answer) : refusalText(answer))
  } else {
    const answer = await answerTo(args, io)
    io.out(args.format === "json" ? jsonText(answer) : requestText(answer))
  }
  return exitCode.ok
})

function jsonText(answer: object): string {
  return `${JSON.stringify(answer, null, 2)}\n`
}

/** The description of a finding's code. */
function textOfCode(code: string): string {
  const text = explainCode(code)
  if (text === undefined) {
    throw new CliError(
      `there is no finding \`${code}\`${didYouMean(code, Object.keys(catalogue))}`,
      "Use the code after `error` or `warning` in a finding, e.g. SP2001.",
    )
  }
  return text
}

/** With `--config` or `--plan` the request runs in this process, through the gateway's own code and without a backend. */
async function answerTo({ question, body, source }: RequestArgs, io: Io): Promise<ExplainRequestAnswer> {
  const bytes = body === undefined ? undefined : await readBody(io, body)
  if (source.kind === "control") {
    const asked = bytes === undefined ? question : { ...question, body: bytes.toString("base64") }
    return orWithout("To explain without a running Sallyport, add `--config gateway.conf`.", async () => {
      const remote = await connect(io, source.url)
      return expectOk<ExplainRequestAnswer>(await remote.request("POST", "/v1/explain-request", asked))
    })
  }
  const plan = await planFrom(source, io)
  const { explainOffline } = await import("../../../runtime/gateway/explain/explain-offline.ts")
  const whole: RequestQuestion = {
    ...{ ...question, headers: question.headers ?? [], body: bytes },
    ...{ host: question.host ?? "localhost", ip: question.ip ?? "127.0.0.1" },
  }
  return explainOffline(plan, whole, { environment: io.env, folder: io.cwd })
}

async function planFrom(source: Exclude<ExplainSource, { kind: "control" }>, io: Io): Promise<Plan> {
  return source.kind === "plan" ? readPlanFile(io, source.file).plan : compilePlan(io, source.project)
}

/** The body is bytes: it need not be text. */
async function readBody(io: Io, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file))
  } catch (error) {
    throw new CliError(
      `the body ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      "Check the path after --body.",
    )
  }
}
