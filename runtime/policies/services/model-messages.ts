import type { MessageBody } from "../exchange.ts"

/** The texts of a prompt or completion. */
export interface ModelTexts {
  readonly texts: readonly string[]
  readonly images: number
}

/** Members that contain the text of prompts: in requests of OpenAI, Anthropic and Gemini. */
const promptMembers = ["messages", "prompt", "input", "instructions", "system", "contents"] as const
/** Members that contain the text of completions. */
const completionMembers = ["choices", "content", "output", "candidates", "delta", "response"] as const

/** Members whose values are keywords of the API, not user text: a model refuses others. */
const formal: ReadonlySet<string> = new Set(["role", "type"])

/** The texts and images of a prompt. A body that is not JSON is one text. */
export function promptOf(body: MessageBody): ModelTexts {
  if (!body.present) return { texts: [], images: 0 }
  try {
    return textsOfPrompt(body.json())
  } catch {
    return { texts: [body.text()], images: 0 }
  }
}

/** As `promptOf`, for parsed JSON. */
export function textsOfPrompt(value: unknown): ModelTexts {
  return textsIn(value, promptMembers)
}

/** The texts of a response or an event stream; the pieces of one text are joined. */
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

/** The texts of some members, in order. Uses a list instead of recursion, because the nesting depth is limited only by the size. */
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

/** The data of the events of a stream that is JSON (WHATWG HTML, server-sent events). */
export function eventsOf(text: string): unknown[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"))
    const value = lines.length === 0 ? undefined : parsed(lines.map((line) => line.slice(5)).join("\n"))
    return value === undefined ? [] : [value]
  })
}

/** The parsed JSON; undefined for anything else. */
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
