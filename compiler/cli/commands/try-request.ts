import type { TupleKey } from "../../../runtime/check/ports.ts"
import type { ExplainRequestQuestion } from "../../../runtime/control/api.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { Report } from "../../core/diagnostic.ts"
import { Project } from "../../core/load.ts"
import type { RequestOrder, TestGiven } from "../../gateway-test/gateway-suite.ts"
import { nothingGiven } from "../../gateway-test/given.ts"
import { callerNamed } from "../../gateway-test/named-caller.ts"
import { passageDocument } from "../../gateway-test/passage-document.ts"
import { sendOrder, worldOf } from "../../gateway-test/run-suite.ts"
import { readGivenOf } from "../../gateway-test/test-file.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import {
  configOption,
  formatOptions,
  type ProjectArgs,
  readFormat,
  readMoment,
  readProject,
} from "../options.ts"
import { jsonDocument } from "../print.ts"
import { compileOnce, demandEntry, planIn, showFindings } from "../project.ts"
import { filled, listOf, questionOf, readBody, requestOptions } from "../request-options.ts"
import { passageText } from "../views/try-request.ts"

interface TryArgs {
  readonly question: ExplainRequestQuestion
  /** A caller of the file in `given`, or a `sub`. */
  readonly as: string | undefined
  /** The file with the request body. */
  readonly body: string | undefined
  readonly tuples: readonly TupleKey[]
  readonly timeMs: number | undefined
  /** A file of gateway tests. */
  readonly given: string | undefined
  readonly project: ProjectArgs
  readonly format: "text" | "json"
}

const example = "For example: sallyport try request GET /v1/orders/1 --as ann"

const tryLine: CommandLine<TryArgs> = {
  operands: [
    ["<method>", "method of the request"],
    ["<path>", "its path and query"],
  ],
  options: [
    ...requestOptions,
    ["--given <file>", "callers, tuples, backends and time of these gateway tests (*.gw.yaml)"],
    ["--tuple <tuple...>", "a tuple of the only store: `user:ann owner order:1`"],
    ["--time <time>", "the clock of the request, e.g. 2030-01-31T12:00:00Z"],
    configOption,
    ...formatOptions,
  ],
  examples: [
    [
      "sallyport try request GET /status",
      "send a request through the gateway of this folder, without a server",
    ],
    [
      'sallyport try request GET /v1/orders/1 --as ann --claim scope=orders.read --tuple "user:ann owner order:1"',
      "as a user with a token, who has a relation",
    ],
    [
      "sallyport try request GET /v1/orders/1 --as ann --given models/tests/acme.gw.yaml",
      "as a caller of tests, with their backends",
    ],
  ],
  parse([method, target, ...more], options) {
    if (method === undefined || target === undefined || more.length > 0)
      throw new CliError("try request needs a method and a path", example)
    if (!target.startsWith("/"))
      throw new CliError(`the path \`${target}\` does not start with \`/\``, example)
    if (options["websocket"] === true)
      throw new CliError(
        "a WebSocket needs a running gateway",
        "Use `sallyport explain request --websocket`.",
      )
    const time = filled(options, "time")
    return {
      question: questionOf(method.toUpperCase(), target, options),
      ...{ as: filled(options, "as"), body: filled(options, "body"), given: filled(options, "given") },
      tuples: listOf(options, "tuple").map(tupleOf),
      timeMs: time === undefined ? undefined : Date.parse(readMoment(time, "--time")),
      project: readProject(options),
      format: readFormat(options, ["text", "json"]),
    }
  },
}

function tupleOf(text: string): TupleKey {
  const [user, relation, object, ...more] = text.trim().split(/\s+/)
  if (user === undefined || relation === undefined || object === undefined || more.length > 0)
    throw new CliError(
      `\`${text}\` is not a tuple`,
      'Write a user, a relation and an object: --tuple "user:ann owner order:1".',
    )
  return { user, relation, object }
}

/** Sends one request through the gateway of a project in this process. Nothing is started, and nothing outside is asked. */
export const tryRequest = command(tryLine, async (args, io) => {
  const files = demandEntry(io, args.project)
  const compiled = await compileOnce(io, args.project, files)
  const plan = planIn(io, compiled)
  const given = withOwn(await givenOf(args, io, compiled.models, plan), args, plan)
  const order = await orderOf(args, io, given, plan)
  const { openInProcess } = await import("../../../runtime/gateway/in-process/in-process-gateway.ts")
  const options = { environment: { ...io.env, ...given.environment }, folder: io.cwd }
  const gateway = await openInProcess(plan, worldOf(given), options).catch((error: unknown) => {
    throw new CliError(
      `the plan cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      "Correct what the message names.",
    )
  })
  try {
    const passage = await sendOrder(gateway, order, given)
    io.out(
      args.format === "json"
        ? jsonDocument(await passageDocument(passage, plan))
        : await passageText(passage, plan, order.text),
    )
  } finally {
    gateway.close()
  }
  return exitCode.ok
})

/** What the named tests begin with. */
async function givenOf(
  { given: path }: TryArgs,
  io: Io,
  models: Awaited<ReturnType<typeof compileOnce>>["models"],
  plan: Plan,
): Promise<TestGiven> {
  if (path === undefined) return nothingGiven
  const { DiskFiles } = await import("../../core/disk-files.ts")
  const report = new Report()
  const file = new Project(new DiskFiles(io.cwd), report).read(path, undefined)
  const project = async () => ({ config: "", plan, folder: io.cwd, models })
  const given = file === undefined ? undefined : await readGivenOf(file, report, project)
  showFindings(io, report.sorted())
  if (given === undefined) throw new CliError(`${path} cannot be used`, "Correct the findings above.")
  return given
}

/** Adds the options to what is given. */
function withOwn(given: TestGiven, { tuples, timeMs }: TryArgs, { plan }: Plan): TestGiven {
  const stores = Object.keys(plan.authz?.stores ?? {})
  const [store] = stores
  if (tuples.length > 0 && (store === undefined || stores.length > 1))
    throw new CliError(
      `--tuple needs a plan with one store; this one has ${stores.length}`,
      "Write the tuples into a file for --given.",
    )
  return {
    ...given,
    timeMs: timeMs ?? (given === nothingGiven ? Date.now() : given.timeMs),
    tuples:
      store === undefined || tuples.length === 0
        ? given.tuples
        : { ...given.tuples, [store]: [...(given.tuples[store] ?? []), ...tuples] },
  }
}

async function orderOf(
  { question, as, body }: TryArgs,
  io: Io,
  given: TestGiven,
  { plan }: Plan,
): Promise<RequestOrder> {
  const { method, target, host, ip, token, key } = question
  const headers = [...(question.headers ?? []), ...(host === undefined ? [] : [["host", host] as const])]
  const written = token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]
  const caller = as === undefined ? { headers: written, key } : callerNamed(as, question.claims, given, plan)
  return {
    ...{ method, target, headers, ip, caller },
    body: body === undefined ? undefined : await readBody(io, body),
    text: `${method} ${target}${as === undefined ? "" : ` as ${as}`}`,
  }
}
