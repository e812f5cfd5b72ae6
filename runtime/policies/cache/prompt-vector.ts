import { createHash } from "node:crypto"
import { unitVector } from "../../cache/vectors.ts"
import { OutgoingError } from "../../http/client/http-client.ts"
import { NoToken } from "../../identity/token-client.ts"
import type { StepOf } from "../../plan/steps.ts"
import { type Exchange, requestBody } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { memberOf, parsed, textsOfPrompt } from "../services/model-messages.ts"

/** A prompt as a vector, to find similar prompts. */
export interface PromptVector {
  readonly vector: Float32Array
  /** Everything in the request except the prompt: requests with another model or other tools must not match. */
  readonly rest: string
}

type Like = NonNullable<StepOf<"cache-lookup">["like"]>

/** Embedding models do not accept longer texts. */
const charactersMax = 32_000
const dimensionsMax = 4_096
const timeoutMs = 10_000

/**
 * Requests the vector of a prompt from the backend (OpenAI's embeddings API: `{"input": …}` to its URL). Undefined: the request is not looked up or
 * stored, because it has another form, asks for a stream, contains images or too many messages, or because the backend failed; the log names the
 * failure.
 */
export function compilePromptVector(
  like: Like,
  provision: Provision,
): (exchange: Exchange) => Promise<PromptVector | undefined> {
  const backend = provision.backend(like.backend)
  const http = provision.http()
  const log = provision.traceLog()
  provision.need(requestBody)
  const ask = async (exchange: Exchange, input: string): Promise<unknown> => {
    const ending = new AbortController()
    exchange.whenOver(() => ending.abort())
    const { authorization, certificate } = await backend.credentials()
    const headers = ["content-type", "application/json"]
    if (authorization !== undefined) headers.push("authorization", authorization)
    const response = await http.send({
      url: backend.url,
      method: "POST",
      headers,
      body: Buffer.from(JSON.stringify({ input })),
      timeoutMs,
      signal: ending.signal,
      ...(certificate === undefined ? {} : { certificate }),
    })
    if (response.status !== 200) throw new OutgoingError("invalid", `it responded with ${response.status}`)
    return parsed(response.body.toString("utf8"))
  }
  return async (exchange) => {
    const prompt = promptIn(exchange, like)
    if (prompt === undefined) return undefined
    try {
      const vector = vectorIn(await ask(exchange, prompt.text))
      if (vector === undefined) throw new OutgoingError("invalid", "its response has no embedding")
      return { vector, rest: prompt.rest }
    } catch (error) {
      if (!(error instanceof OutgoingError) && !(error instanceof NoToken)) throw error
      const message = `\`${like.backend}\` returned no vector for the prompt: ${error.message}`
      log.write({ requestId: exchange.id, source: "cache-lookup", severity: "error", message, metadata: {} })
      return undefined
    }
  }
}

/**
 * The text that prompts are compared by, and a digest of everything else, which must be equal. Undefined for requests that are never
 * cached, e.g. with images.
 */
function promptIn(exchange: Exchange, like: Like): { text: string; rest: string } | undefined {
  const { requestBody: body } = exchange
  const value = body.present ? parsed(body.text()) : undefined
  const messages = memberOf(value, "messages")
  if (!Array.isArray(messages) || memberOf(value, "stream") === true) return undefined
  const heeded = like.ignoreSystem ? messages.filter((each) => !isSystem(each)) : messages
  if (like.messagesMax !== undefined && heeded.length > like.messagesMax) return undefined
  const { texts, images } = textsOfPrompt({ messages: heeded })
  const text = texts.join("\n")
  if (text.trim() === "" || text.length > charactersMax || images > 0) return undefined
  const others = JSON.stringify({ ...(value as object), messages: undefined })
  return { text, rest: createHash("sha256").update(others).digest("base64url") }
}

function isSystem(message: unknown): boolean {
  const role = memberOf(message, "role")
  return role === "system" || role === "developer"
}

function vectorIn(answer: unknown): Float32Array | undefined {
  const data = memberOf(answer, "data")
  const embedding = Array.isArray(data) ? memberOf(data[0], "embedding") : undefined
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > dimensionsMax)
    return undefined
  return embedding.every((each) => typeof each === "number") ? unitVector(embedding) : undefined
}
