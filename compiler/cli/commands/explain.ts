import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { ExplainRequestAnswer, RefusalAnswer } from "../../../runtime/control/explain-api.ts"
import type { RequestQuestion } from "../../../runtime/gateway/explain/request-explanation.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { catalogue } from "../../core/catalogue.ts"
import { didYouMean } from "../../core/nearest.ts"
import { explainCode } from "../../render/explain.ts"
import type { ExplainArgs, ExplainSource } from "../args/explain.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { readPlanFile } from "../plan-file.ts"
import { planOf } from "../project.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { refusalText, requestText } from "../views/explain-request.ts"

type RequestArgs = ExplainArgs & { readonly what: "request" }

export const explain: CommandAction<ExplainArgs> = async (args, io) => {
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
}

function jsonText(answer: object): string {
  return `${JSON.stringify(answer, null, 2)}\n`
}

function textOfCode(code: string): string {
  const text = explainCode(code)
  if (text === undefined) {
    throw new CliError(
      `there is no finding \`${code}\`${didYouMean(code, Object.keys(catalogue))}`,
      "The code stands behind `error` or `warning` in a finding, e.g. SP2001.",
    )
  }
  return text
}

async function answerTo({ question, body, source }: RequestArgs, io: Io): Promise<ExplainRequestAnswer> {
  const bytes = body === undefined ? undefined : await readBody(io, body)
  if (source.kind === "control") {
    const remote: Remote = await connect(io, source.url)
    const asked = bytes === undefined ? question : { ...question, body: bytes.toString("base64") }
    return expectOk<ExplainRequestAnswer>(await remote.request("POST", "/v1/explain-request", asked))
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
  return source.kind === "plan" ? readPlanFile(io, source.file).plan : planOf(io, source.project)
}

async function readBody(io: Io, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file))
  } catch (error) {
    throw new CliError(`the body ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
