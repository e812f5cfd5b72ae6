import { HeaderList } from "../../policies/messages/header-list.ts"
import { headerNameOf, nominated } from "./header-names.ts"

/** The fields of a backend's response for the client (RFC 9110 §7.6.1), and its Content-Length, -1 without one. */
export function answerHeaders(
  status: number,
  raw: readonly string[],
): { headers: HeaderList; length: number } {
  const flat: string[] = []
  let named: string[] | undefined
  let length = -1
  for (let at = 0; at < raw.length; at += 2) {
    const { lower, hopInAnswer } = headerNameOf(raw[at] as string)
    if (hopInAnswer) {
      if (lower === "connection") named = nominatedBy(named, raw[at + 1] as string)
      continue
    }
    const value = raw[at + 1] as string
    if (lower === "content-length") length = Number(value)
    if (lower === "content-length" && status === 204) continue
    if (lower !== "x-request-id") flat.push(lower, value)
  }
  const headers = new HeaderList(flat)
  for (const name of named ?? []) if (!framing.has(name)) headers.remove(name)
  return { headers, length }
}

/** `keep-alive` and `close` are by far the most common and name no field that is kept. */
function nominatedBy(before: string[] | undefined, connection: string): string[] | undefined {
  if (connection === "keep-alive" || connection === "close") return before
  return [...(before ?? []), ...nominated(connection)]
}

/** A Connection field must not remove these; Content-Length marks the end of the response. */
const framing: ReadonlySet<string> = new Set(["content-length", "content-type", "date"])
