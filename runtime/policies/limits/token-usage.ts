import type { TokenKind } from "../../plan/step-values.ts"
import { type Exchange, responseBody } from "../exchange.ts"
import { eventsOf, memberOf, parsed, promptOf } from "../services/model-messages.ts"

/** Tokens that a language model used for a call. */
export type TokenUsage = Readonly<Record<TokenKind, number>>

/** Bytes of text per token, when the response does not report its usage. */
const bytesPerToken = 4
/** Bytes per event of a stream that was not kept; with names and brackets, an event is about one token. */
const bytesPerEvent = 100
/** An image in a prompt counts as the maximum number of tokens it may have. */
const tokensPerImage = 1_200

const nothingUsed: TokenUsage = { prompt: 0, completion: 0, total: 0 }

/** Estimates the tokens of a prompt: one for four bytes of text, 1,200 for each image. A body that is not JSON counts as text. */
export function estimatePrompt({ requestBody }: Exchange): number {
  const { texts, images } = promptOf(requestBody)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return Math.ceil(bytes / bytesPerToken) + images * tokensPerImage
}

const watched = new WeakMap<Exchange, ((usage: TokenUsage) => void)[]>()

/** Reports the tokens of an exchange after it has ended. The response is not held for this: a copy is kept while it streams. */
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

/** Reports the tokens of a response before it is sent, unless it is a stream. */
export async function answeredUsage(
  exchange: Exchange,
  tell: (usage: TokenUsage) => void,
): Promise<undefined> {
  if (isEventStream(exchange)) return undefined
  try {
    await exchange.load(responseBody)
  } catch {
    // A body larger than the buffer is not reported, but it is counted at the end.
    return undefined
  }
  tell(usageOf(exchange))
  return undefined
}

/** The tokens of a response whose body is loaded. */
function usageOf(exchange: Exchange): TokenUsage {
  const { response } = exchange
  if (response === undefined || !response.body.present) return nothingUsed
  const text = response.body.text()
  if (!isEventStream(exchange)) return (isFailure(exchange) ? undefined : saidIn(parsed(text))) ?? nothingUsed
  const events = eventsOf(text)
  return saidInEvents(events) ?? estimated(exchange, events.length)
}

/** Estimates the tokens of a response that broke off or was too large to keep: only its number of bytes is known. */
function unseenUsage(exchange: Exchange): TokenUsage {
  if (exchange.response === undefined || isFailure(exchange)) return nothingUsed
  const bytes = isEventStream(exchange) ? bytesPerEvent : bytesPerToken
  return estimated(exchange, Math.ceil(exchange.bytesSent / bytes))
}

function estimated({ bytesReceived }: Exchange, completion: number): TokenUsage {
  const prompt = Math.ceil(bytesReceived / bytesPerToken)
  return { prompt, completion, total: prompt + completion }
}

/** Whether a response is an event stream. */
export function isEventStream({ response }: Exchange): boolean {
  return /^text\/event-stream\b/i.test(response?.headers.get("content-type") ?? "")
}

function isFailure({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 400
}

/** The usage that the events of a stream report; counts of later events include those of earlier ones. */
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

/** The usage that a response, or an event of a stream, reports. */
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
