import type { MessageBody } from "../exchange.ts"

/** What a language model is asked, or answers. */
export interface ModelTexts {
  readonly texts: readonly string[]
  readonly images: number
}

/** Where the text of prompts stands: OpenAI's, Anthropic's and Gemini's requests. */
const promptMembers = ["messages", "prompt", "input", "instructions", "system", "contents"] as const
/** Where the text of completions stands. */
const completionMembers = ["choices", "content", "output", "candidates", "delta", "response"] as const

/** Members that are words of the API and no text of anybody: a model refuses others. */
const formal: ReadonlySet<string> = new Set(["role", "type"])

/** The texts and images of a prompt. A body that is no JSON is a text. */
export function promptOf(body: MessageBody): ModelTexts {
  if (!body.present) return { texts: [], images: 0 }
  try {
    return textsOfPrompt(body.json())
  } catch {
    return { texts: [body.text()], images: 0 }
  }
}

/** The same of the JSON of a request. */
export function textsOfPrompt(value: unknown): ModelTexts {
  return textsIn(value, promptMembers)
}

/** The texts of an answer, also of one that is a stream of events: what belongs together there is one text. */
export function completionOf(body: MessageBody, stream: boolean): ModelTexts {
  if (!body.present) return { texts: [], images: 0 }
  const text = body.text()
  if (stream) {
    const parts = eventsOf(text).flatMap((event) => textsIn(event, completionMembers).texts)
    return { texts: [parts.join("")], images: 0 }
  }
  const value = parsed(text)
  return value === undefined ? { texts: [text], images: 0 } : textsIn(value, completionMembers)
}

/** The texts of some members, in their order. Their depth is bounded by their size only, so the way is a list and no recursion. */
function textsIn(value: unknown, members: readonly string[]): ModelTexts {
  const rest: unknown[] = members.map((name) => memberOf(value, name)).reverse()
  const texts: string[] = []
  let images = 0
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === "string") {
      if (next.startsWith("data:")) images += 1
      else texts.push(next)
    } else if (typeof next === "object" && next !== null) {
      const inside = Object.entries(next).filter(([name]) => !formal.has(name))
      for (let index = inside.length - 1; index >= 0; index--) rest.push(inside[index]?.[1])
    }
  }
  return { texts, images }
}

/** The data of the events of a stream that are JSON (WHATWG HTML, server-sent events). */
export function eventsOf(text: string): unknown[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"))
    const value = lines.length === 0 ? undefined : parsed(lines.map((line) => line.slice(5)).join("\n"))
    return value === undefined ? [] : [value]
  })
}

/** JSON, if it is that. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A member of an object of JSON. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
