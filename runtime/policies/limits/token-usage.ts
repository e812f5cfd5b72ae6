import type { TokenKind } from "../../plan/step-values.ts"
import { type Exchange, responseBody } from "../exchange.ts"
import { eventsOf, memberOf, parsed, promptOf } from "../services/model-messages.ts"

/** Tokens a language model used for a call. */
export type TokenUsage = Readonly<Record<TokenKind, number>>

/** Where nobody says more, a token is this many bytes of text. */
const bytesPerToken = 4
/** Of an event of a stream that was not kept; with its names and brackets it is about a token. */
const bytesPerEvent = 100
/** An image of a prompt counts as many tokens as it may have at most. */
const tokensPerImage = 1_200

const nothingUsed: TokenUsage = { prompt: 0, completion: 0, total: 0 }

/** The tokens a prompt is likely to have: one for four bytes of its texts, 1,200 for each image in it. A body that is no JSON counts as text. */
export function estimatePrompt({ requestBody }: Exchange): number {
  const { texts, images } = promptOf(requestBody)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return Math.ceil(bytes / bytesPerToken) + images * tokensPerImage
}

const watched = new WeakMap<Exchange, ((usage: TokenUsage) => void)[]>()

/** Tells the tokens of an exchange once it has ended. The answer is not held for that: a copy is kept while it passes. */
export function whenUsed(exchange: Exchange, tell: (usage: TokenUsage) => void): void {
  const known = watched.get(exchange)
  if (known !== undefined) {
    known.push(tell)
    return
  }
  const listeners = [tell]
  watched.set(exchange, listeners)
  exchange.keepAnswer()
  exchange.whenOver(() => {
    const say = (usage: TokenUsage) => {
      for (const listener of listeners) listener(usage)
    }
    const loading = exchange.load(responseBody)
    if (loading === undefined) say(usageOf(exchange))
    else
      loading.then(
        () => say(usageOf(exchange)),
        () => say(unseenUsage(exchange)),
      )
  })
}

/** Tells the tokens of an answer that has come and is no stream; to be asked before it is sent. */
export async function answeredUsage(
  exchange: Exchange,
  tell: (usage: TokenUsage) => void,
): Promise<undefined> {
  if (isEventStream(exchange)) return undefined
  try {
    await exchange.load(responseBody)
  } catch {
    // What is too large to be held is told by nobody; it is counted all the same.
    return undefined
  }
  tell(usageOf(exchange))
  return undefined
}

/** The tokens by an answer whose body is loaded. */
function usageOf(exchange: Exchange): TokenUsage {
  const { response } = exchange
  if (response === undefined || !response.body.present) return nothingUsed
  const text = response.body.text()
  if (!isEventStream(exchange)) return (isFailure(exchange) ? undefined : saidIn(parsed(text))) ?? nothingUsed
  const events = eventsOf(text)
  return saidInEvents(events) ?? estimated(exchange, events.length)
}

/** Of an answer that broke off, or that was too large to be kept: only how much of it passed is known. */
function unseenUsage(exchange: Exchange): TokenUsage {
  if (exchange.response === undefined || isFailure(exchange)) return nothingUsed
  const bytes = isEventStream(exchange) ? bytesPerEvent : bytesPerToken
  return estimated(exchange, Math.ceil(exchange.bytesSent / bytes))
}

function estimated({ bytesReceived }: Exchange, completion: number): TokenUsage {
  const prompt = Math.ceil(bytesReceived / bytesPerToken)
  return { prompt, completion, total: prompt + completion }
}

/** Whether an answer is a stream of events. */
export function isEventStream({ response }: Exchange): boolean {
  return /^text\/event-stream\b/i.test(response?.headers.get("content-type") ?? "")
}

function isFailure({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 400
}

/** What the events of a stream say together: a later one counts what an earlier one did too. */
function saidInEvents(events: readonly unknown[]): TokenUsage | undefined {
  let said: TokenUsage | undefined
  for (const event of events) {
    const usage = saidIn(event)
    if (usage === undefined) continue
    const prompt = Math.max(usage.prompt, said?.prompt ?? 0)
    const completion = Math.max(usage.completion, said?.completion ?? 0)
    said = { prompt, completion, total: Math.max(usage.total, prompt + completion) }
  }
  return said
}

/** What an answer, or an event of one, says was used. */
function saidIn(value: unknown): TokenUsage | undefined {
  for (const holder of [value, memberOf(value, "response"), memberOf(value, "message")]) {
    const usage = memberOf(holder, "usage") ?? memberOf(holder, "usageMetadata")
    if (typeof usage !== "object" || usage === null) continue
    const number = (...names: string[]) => {
      const found = names.map((name) => memberOf(usage, name)).find((each) => typeof each === "number")
      return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : 0
    }
    const prompt = number("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
    const completion = number("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
    const total = number("total_tokens", "totalTokens", "totalTokenCount")
    return { prompt, completion, total: Math.max(total, prompt + completion) }
  }
  return undefined
}
