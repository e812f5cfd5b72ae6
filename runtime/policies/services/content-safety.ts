import { OutgoingError, type OutgoingHttp } from "../../http/client/http-client.ts"
import { NoToken } from "../../identity/token-client.ts"
import type { StepOf } from "../../plan/steps.ts"
import { type BackendHandle, type Exchange, requestBody, responseBody } from "../exchange.ts"
import { isEventStream } from "../limits/token-usage.ts"
import { type Problem, problem, Refused } from "../messages/answer.ts"
import type { Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount, compileFlag } from "../values/value.ts"
import { completionOf, type ModelTexts, memberOf, parsed, promptOf } from "./model-messages.ts"

/** Maximum number of characters in one request to the service. */
const charactersMax = 10_000
/** Refuse a text that would need more than this many requests. */
const piecesMax = 100
const timeoutMs = 30_000

/** Has the service judge a text; undefined: it is harmless. Rejects with Refused when there is no judgement. */
type Judge = (exchange: Exchange, text: string) => Promise<Problem | undefined>

/** Lets only content pass that a service finds harmless. Without a judgement nothing passes. */
export const contentSafety: Policy<"content-safety"> = (plan, provision) => {
  const ask = compileAsking(provision.backend(plan.backend), provision.http())
  const analyse = compileAnalysis(plan, provision, ask)
  const shield = shielding(ask)
  const shields = compileFlag(plan.shieldPrompt, provision)
  const completes = compileFlag(plan.completions, provision)
  provision.need(requestBody)
  return async (exchange) => {
    const judges = [...(analyse === undefined ? [] : [analyse]), ...(shields(exchange) ? [shield] : [])]
    const found = await judged(exchange, promptOf(exchange.requestBody), judges)
    if (found !== undefined) return found
    if (analyse !== undefined && completes(exchange))
      exchange.whenAnswered(() => judgeAnswer(exchange, analyse))
    return undefined
  }
}

/** Holds the response until it is judged, including a stream. */
async function judgeAnswer(exchange: Exchange, analyse: Judge): Promise<Problem | undefined> {
  try {
    await exchange.load(responseBody)
  } catch (error) {
    if (error instanceof Refused && error.answer.kind === "problem") return error.answer
    throw error
  }
  const { response } = exchange
  if (response === undefined) return undefined
  return judged(exchange, completionOf(response.body, isEventStream(exchange)), [analyse])
}

/** Asks for each piece of the text, because the service limits the length of a request. */
async function judged(
  exchange: Exchange,
  { texts }: ModelTexts,
  judges: readonly Judge[],
): Promise<Problem | undefined> {
  const pieces = piecesOf(texts.join("\n"))
  if (pieces.length > piecesMax)
    return refusal(
      `the text has more than ${piecesMax * charactersMax} characters, the maximum for a content check`,
    )
  try {
    for (const piece of pieces)
      for (const judge of judges) {
        const found = await judge(exchange, piece)
        if (found !== undefined) return found
      }
  } catch (error) {
    if (error instanceof Refused && error.answer.kind === "problem") return error.answer
    throw error
  }
  return undefined
}

/** Splits between Unicode characters: surrogate pairs stay together. */
function piecesOf(text: string): string[] {
  if (text.trim() === "") return []
  if (text.length <= charactersMax) return [text]
  const characters = [...text]
  const pieces: string[] = []
  for (let at = 0; at < characters.length; at += charactersMax)
    pieces.push(characters.slice(at, at + charactersMax).join(""))
  return pieces
}

type Ask = (exchange: Exchange, operation: string, body: object) => Promise<unknown>

/** Sends a request to the service; it ends when the exchange ends. */
function compileAsking(backend: BackendHandle, http: OutgoingHttp): Ask {
  // The backend may be configured with or without `/contentsafety` at the end.
  const base = backend.url.replace(/\/+$/, "").replace(/\/contentsafety$/, "")
  return async (exchange, operation, body) => {
    const ending = new AbortController()
    exchange.whenOver(() => ending.abort())
    try {
      const { authorization, certificate } = await backend.credentials()
      const headers = ["content-type", "application/json"]
      if (authorization !== undefined) headers.push("authorization", authorization)
      const response = await http.send({
        url: `${base}/contentsafety/${operation}?api-version=2024-09-01`,
        method: "POST",
        headers,
        body: Buffer.from(JSON.stringify(body)),
        timeoutMs,
        signal: ending.signal,
        ...(certificate === undefined ? {} : { certificate }),
      })
      const answer = response.status === 200 ? parsed(response.body.toString("utf8")) : undefined
      if (answer !== undefined) return answer
      throw unavailable(`the content safety service responded with ${response.status}`)
    } catch (error) {
      if (!(error instanceof OutgoingError) && !(error instanceof NoToken)) throw error
      throw unavailable(`the content safety service: ${error.message}`)
    }
  }
}

/** Compares the severities with the thresholds. An answer without them refuses the request. */
function compileAnalysis(plan: StepOf<"content-safety">, provision: Provision, ask: Ask): Judge | undefined {
  if (plan.categories.length + plan.blocklists.length === 0) return undefined
  const thresholds = plan.categories.map(({ name, threshold }) => ({
    name,
    of: compileCount(threshold, provision),
  }))
  const blocklists = plan.blocklists.map((each) => compileText(each, provision, anyText))
  const outputType = plan.levels === "eight" ? "EightSeverityLevels" : "FourSeverityLevels"
  return async (exchange, text) => {
    const answer = await ask(exchange, "text:analyze", {
      text,
      categories: thresholds.map(({ name }) => name),
      blocklistNames: blocklists.map((each) => each.of(exchange)),
      haltOnBlocklistHit: false,
      outputType,
    })
    const hits = memberOf(answer, "blocklistsMatch")
    if (blocklists.length > 0 && !Array.isArray(hits)) throw noJudgement("blocklistsMatch")
    if (Array.isArray(hits) && hits.length > 0) return refusal("a term of a list was found")
    const analysis = memberOf(answer, "categoriesAnalysis")
    if (thresholds.length > 0 && !Array.isArray(analysis)) throw noJudgement("categoriesAnalysis")
    for (const { name, of } of thresholds) {
      const found = (analysis as unknown[]).find((each) => memberOf(each, "category") === name)
      const severity = memberOf(found, "severity")
      if (typeof severity !== "number") throw noJudgement(`severity of ${name}`)
      if (severity >= of(exchange)) return refusal(`${name} has the severity ${severity}`)
    }
    return undefined
  }
}

function shielding(ask: Ask): Judge {
  return async (exchange, text) => {
    const answer = await ask(exchange, "text:shieldPrompt", { userPrompt: text, documents: [] })
    const attack = memberOf(memberOf(answer, "userPromptAnalysis"), "attackDetected")
    if (typeof attack !== "boolean") throw noJudgement("userPromptAnalysis.attackDetected")
    return attack ? refusal("an attack was found in the prompt") : undefined
  }
}

function refusal(cause: string): Problem {
  return problem("forbidden", {
    cause,
    reason: "ContentSafetyViolation",
    message: "The content was found to be harmful.",
  })
}

function noJudgement(missing: string): Refused {
  return unavailable(`the response of the content safety service has no \`${missing}\``)
}

function unavailable(cause: string): Refused {
  return new Refused(problem("backend-unavailable", { cause, reason: "ContentSafetyFailure" }))
}
