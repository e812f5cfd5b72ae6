import { isJson, mediaTypeOf } from "../../validation/media-type.ts"
import { type Exchange, responseBody } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import { forgetUnchanged } from "../messages/message.ts"
import { QueryString } from "../messages/query-string.ts"
import type { Outcome, Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

const media = "text/javascript; charset=utf-8"

/** One name without dots: `a.b.c` could call any function of a page, for example a click. */
const identifier = /^[A-Za-z_$][\w$]{0,127}$/

/** Reserved words and literals of ECMAScript (ECMA-262 §12.7.2). */
const reserved: ReadonlySet<string> = new Set(
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
)

/**
 * Converts a JSON response to a script that calls the function named by the caller. It applies to GET and HEAD, and only when the caller names a
 * function; anything but one plain name is 400. Only valid JSON goes out, because a page runs the script.
 */
export const jsonp: Policy<"jsonp"> = (plan, provision) => {
  const parameter = compileText(plan.callback, provision, anyText)
  return (exchange) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return undefined
    const name = parameter.of(exchange)
    // Reads the client's query: policies may have changed the query for the backend.
    const query = new QueryString(exchange.originalQuery)
    if (name === "" || query.count(name) === 0 || !answersJson(exchange)) return undefined
    const callback = query.get(name) ?? ""
    if (query.count(name) > 1 || !identifier.test(callback) || reserved.has(callback)) return refusal(name)
    const loading = exchange.load(responseBody)
    return loading === undefined ? wrap(exchange, callback) : loading.then(() => wrap(exchange, callback))
  }
}

function refusal(name: string): Outcome {
  return problem("invalid-request", {
    cause: `the value of ${name} is not a plain function name`,
    errors: [{ in: "query", pointer: name, message: "is not a JavaScript identifier" }],
    reason: "CallbackParameterInvalid",
  })
}

function answersJson({ response }: Exchange): boolean {
  const type = mediaTypeOf(response?.headers.get("content-type") ?? "")
  return type !== undefined && isJson(`${type.type}/${type.subtype}`)
}

/**
 * Escapes JSON so that a script reads the same value. Two characters end lines in older scripts. `__proto__:` sets the prototype in a script
 * (ECMA-262 §13.2.5.5).
 */
function asExpression(json: string): string {
  const text = json
    .replace(/^\ufeff/, "")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
  return /__proto__|\\u00/i.test(text) ? withComputedNames(text) : text
}

/** The longest spelling of `__proto__`: each character escaped. */
const writtenMax = "__proto__".length * 6 + 2

/** Writes `__proto__` as a computed name: as a plain one it would set the prototype in JavaScript. */
function withComputedNames(json: string): string {
  let made = ""
  let done = 0
  for (let at = json.indexOf('"'); at !== -1; ) {
    const end = endOfString(json, at)
    const isName = end - at <= writtenMax && firstBehind(json, end) === ":"
    if (isName && JSON.parse(json.slice(at, end)) === "__proto__") {
      made += `${json.slice(done, at)}[${json.slice(at, end)}]`
      done = end
    }
    at = json.indexOf('"', end)
  }
  return made + json.slice(done)
}

function firstBehind(json: string, at: number): string | undefined {
  let next = at
  while (/\s/.test(json[next] ?? "")) next += 1
  return json[next]
}

/** The position after the string that begins at `at`. */
function endOfString(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); ; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0
    while (json[quote - 1 - slashes] === "\\") slashes += 1
    if (slashes % 2 === 0) return quote + 1
  }
}

/** Wraps the body into a call. The empty comment before it and `nosniff` keep browsers from reading it as another type. */
function wrap(exchange: Exchange, callback: string): Outcome {
  const { response } = exchange
  if (response === undefined) throw new Error("the response is used before there is one")
  const { body, headers } = response
  if (response.status === 206) return problem("bad-gateway", { cause: "a partial response is not JSON" })
  if (body.present) {
    // Parses the body, so that only valid JSON can be run.
    body.json()
    body.replace(Buffer.from(`/**/${callback}(${asExpression(body.text())});`), media)
  } else if (exchange.method === "HEAD") {
    forgetUnchanged(exchange)
    headers.set("content-type", media)
  } else return undefined
  headers.set("x-content-type-options", "nosniff")
  return undefined
}
