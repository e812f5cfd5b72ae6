import type { Text } from "../../plan/text.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { anyText, labelText, queryPartText, segmentText } from "../values/grammars.ts"
import { type CompiledText, compileText, type TextGrammar } from "../values/text.ts"
import { problem, Refused } from "./answer.ts"

/** A compiled URL. */
export interface CompiledUrl {
  /** Whether an expression can decide the host. */
  readonly hostVaries: boolean
  /** @throws Refused when the result is not an absolute http or https URL */
  of(exchange: Exchange): string
}

/**
 * Compiles a URL. A value of an expression must fit its place: one label of the host, one segment of the path (or a part of it), or a part of the
 * query. Only an expression at the very beginning may contain scheme and host, and then anything. `read` returns the address that a written one
 * means; it is checked afterwards.
 */
export function compileUrl(
  text: Text,
  provision: Provision,
  read: (url: string) => string = (url) => url,
): CompiledUrl {
  const parts: CompiledText[] = []
  let before = ""
  let hostVaries = false
  for (const part of typeof text === "string" ? [text] : text.text) {
    const grammar = grammarAfter(before)
    const compiled = compileText({ text: [part] }, provision, grammar)
    if (compiled.constant === undefined && (grammar === anyText || grammar === labelText)) hostVaries = true
    parts.push(compiled)
    before += compiled.constant ?? "x"
  }
  if (!hostVaries) checkConstant(read(before))
  return {
    hostVaries,
    of(exchange) {
      let url = ""
      for (const part of parts) url += part.constant ?? part.of(exchange)
      return checked(read(url), exchange)
    },
  }
}

/** The grammar of the next part of a URL. */
function grammarAfter(before: string): TextGrammar {
  if (before === "") return anyText
  if (before.includes("?")) return queryPartText
  return /^[a-z]+:\/\/[^/]+\//i.test(before) ? segmentText : labelText
}

function checkConstant(url: string): void {
  if (problemOf(url) !== undefined) throw new Error(`\`${url}\` ${problemOf(url)}`)
}

/** Refuses a URL that an expression made wrongly. Before the backend it is the request's fault, afterwards the backend's. */
function checked(url: string, exchange: Exchange): string {
  const wrong = problemOf(url)
  if (wrong === undefined) return url
  const ours = exchange.response !== undefined
  throw new Refused(
    problem(ours ? "bad-gateway" : "invalid-request", {
      cause: `the URL that the expression yielded ${wrong}`,
    }),
  )
}

// URL parsers drop spaces and control characters in different ways.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const notInUrl = /[\u0000-\u0020\u007f\\<>"{}|^`]/

/** Why a URL cannot be requested; undefined if it can. */
function problemOf(url: string): string | undefined {
  if (url.length > 8192) return "is too long"
  if (notInUrl.test(url)) return "has a character that is not allowed in a URL"
  if (!URL.canParse(url)) return "is not a URL"
  const { protocol, username, password, hostname } = new URL(url)
  if (protocol !== "http:" && protocol !== "https:") return "is neither http nor https"
  if (username !== "" || password !== "") return "contains credentials"
  return hostname === "" ? "has no host" : undefined
}
