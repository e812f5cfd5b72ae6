import type {
  ExplainRequestAnswer,
  ExplainRequestQuestion,
  RefusalAnswer,
} from "../../../runtime/control/api.ts"
import type { RequestQuestion } from "../../../runtime/gateway/explain/request-explanation.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { catalogue, type DiagnosticCode, entryOf } from "../../core/catalogue.ts"
import { didYouMean } from "../../core/nearest.ts"
import { explainCode } from "../../render/explain.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, type ProjectArgs, readFormat, readProject } from "../options.ts"
import { readPlanFile } from "../plan-file.ts"
import { print } from "../print.ts"
import { compilePlan } from "../project.ts"
import { connect, expectOk, orWithout } from "../remote.ts"
import { filled, questionOf, readBody, requestOptions } from "../request-options.ts"
import { refusalText, requestText } from "../views/explain-request.ts"

/** What answers: a running Sallyport, the compiled text, or a plan file. */
type ExplainSource =
  | { readonly kind: "control"; readonly url: string | undefined }
  | { readonly kind: "text"; readonly project: ProjectArgs }
  | { readonly kind: "plan"; readonly file: string }

/** `refusal` needs the control listener: refused requests are kept in the memory of the process that refused them. */
type ExplainArgs =
  | { readonly what: "code"; readonly code: string; readonly format: "text" | "json" }
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
    ...requestOptions,
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
    const format = readFormat(options, ["text", "json"])
    if (what !== "request") {
      // An option of `explain request` after a code would have no effect, so it is refused.
      const { format: _, json: __, ...others } = options
      if (method !== undefined || Object.keys(others).length > 0)
        throw new CliError(
          "`explain CODE` takes no options but --format; they belong to `explain request`",
          example,
        )
      return { what: "code", code: what.toUpperCase(), format }
    }
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

type RequestArgs = ExplainArgs & { readonly what: "request" }

/** The three commands behind one word. */
export const explain = command(explainLine, async (args, io) => {
  if (args.what === "code") showCode(io, args.code, args.format)
  else if (args.what === "refusal") {
    const remote = await connect(io, args.source.url)
    const path = `/v1/refusals/${encodeURIComponent(args.id)}`
    const answer = expectOk<RefusalAnswer>(await remote.request("GET", path))
    print(io, args.format, answer, refusalText)
  } else {
    const answer = await answerTo(args, io)
    print(io, args.format, answer, requestText)
  }
  return exitCode.ok
})

/** Prints the description of a finding's code. */
function showCode(io: Io, code: string, format: "text" | "json"): void {
  const text = explainCode(code)
  if (text === undefined) {
    throw new CliError(
      `there is no finding \`${code}\`${didYouMean(code, Object.keys(catalogue))}`,
      "Use the code after `error` or `warning` in a finding, e.g. SP2001.",
    )
  }
  print(io, format, { code, ...entryOf(code as DiagnosticCode) }, () => text)
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
