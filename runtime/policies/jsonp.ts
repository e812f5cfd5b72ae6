import { isJson, mediaTypeOf } from "../validation/media-type.ts"
import { problem } from "./answer.ts"
import { type Exchange, responseBody } from "./exchange.ts"
import { anyText } from "./grammars.ts"
import { forgetUnchanged } from "./message.ts"
import type { Outcome, Policy } from "./policy.ts"
import { QueryString } from "./query-string.ts"
import { compileText } from "./text.ts"

const media = "text/javascript; charset=utf-8"

/** One name, without dots: `a.b.c` could call whatever a page has, e.g. click in it. */
const identifier = /^[A-Za-z_$][\w$]{0,127}$/

/** Words of the language that are no names (ECMA-262 §12.7.2), and literals. */
const reserved: ReadonlySet<string> = new Set(
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
)

/**
 * Makes a script of a JSON answer: a call of the function the caller names, with the JSON as its argument. Only for GET (and the head that HEAD asks for), and only where the caller names one;
 * anything but one plain name is 400. What goes out is JSON that was read, or nothing: a page runs it.
 */
export const jsonp: Policy<"jsonp"> = (plan, provision) => {
  const parameter = compileText(plan.callback, provision, anyText)
  return (exchange) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return undefined
    const name = parameter.of(exchange)
    // As the caller sent it: what the backend is asked may have changed.
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
    cause: `the value of ${name} is no plain name of a function`,
    errors: [{ in: "query", pointer: name, message: "is not a JavaScript identifier" }],
    reason: "CallbackParameterInvalid",
  })
}

function answersJson({ response }: Exchange): boolean {
  const type = mediaTypeOf(response?.headers.get("content-type") ?? "")
  return type !== undefined && isJson(`${type.type}/${type.subtype}`)
}

function wrap(exchange: Exchange, callback: string): Outcome {
  const { response } = exchange
  if (response === undefined) throw new Error("the answer is used before there is one")
  const { body, headers } = response
  if (response.status === 206) return problem("bad-gateway", { cause: "part of an answer is no JSON" })
  if (body.present) {
    // Read, so that nothing but JSON is run; two of its characters ended lines of scripts before ES2019.
    body.json()
    const json = body
      .text()
      .replace(/^\ufeff/, "")
      .replaceAll("\u2028", "\\u2028")
      .replaceAll("\u2029", "\\u2029")
    body.replace(Buffer.from(`/**/${callback}(${json});`), media)
  } else if (exchange.method === "HEAD") {
    forgetUnchanged(exchange)
    headers.set("content-type", media)
  } else return undefined
  headers.set("x-content-type-options", "nosniff")
  return undefined
}
