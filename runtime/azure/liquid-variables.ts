import { toJson } from "../expression/compile.ts"
import { plainObject } from "../expression/plain-object.ts"
import { hasMoreValues, jsonValuesDefault } from "../plan/json-scan.ts"
import { inlineBytesMax, runBodyJob } from "../policies/bodies/body-threads.ts"
import { jsonOfXml } from "../policies/bodies/xml-json.ts"
import { XmlProblem } from "../policies/bodies/xml-reading.ts"
import type { Exchange } from "../policies/exchange.ts"
import { problem, Refused } from "../policies/messages/answer.ts"
import { fieldText, type HeaderList, usualSpelling } from "../policies/messages/header-list.ts"
import { messageOf } from "../policies/messages/message.ts"
import { allFields } from "../policies/messages/own-fields.ts"
import { plainValue } from "./csharp/plain-value.ts"
import { type PolicyUrl, urlText } from "./csharp/ports.ts"
import { CsObject } from "./csharp/values.ts"
import { askedUrl, sentUrl } from "./exchange-url.ts"

/** The variables of templates: `body`, and `context` with the names of Azure API Management. They are plain data for one rendering, computed on access. */
export function liquidVariables(
  exchange: Exchange,
  of: "request" | "response",
  xsiNil: "blank" | "null",
  ahead?: ReadAhead,
): Readonly<Record<string, unknown>> {
  return {
    get body() {
      return ahead === undefined ? bodyOf(exchange, of, xsiNil) : xmlBody(ahead.value, xsiNil)
    },
    get context() {
      return contextOf(exchange)
    },
  }
}

/** The value of a large XML body, parsed before the template runs. */
export interface ReadAhead {
  readonly value: unknown
}

const xmlOptions = { style: "javascript-friendly", alwaysArray: false } as const

/** Parses a large XML body in another thread. Undefined for any other body, which is parsed on access. */
export function readAhead(exchange: Exchange, of: "request" | "response"): Promise<ReadAhead> | undefined {
  const message = messageOf(of)
  const body = message.body(exchange)
  // Only XML has to be converted; other bodies are read on access.
  if (!body.present || !isXml(message.headers(exchange).get("content-type"))) return undefined
  const input = { text: body.text(), options: xmlOptions }
  const made =
    body.content.length > inlineBytesMax
      ? runBodyJob("xml-to-json", input, body.content.length, exchange)
      : undefined
  if (!(made instanceof Promise)) return undefined
  return made.then(({ content, problem: found }) => {
    if (content === undefined) throw refused(of, `${found}`)
    // Reading the result of the thread blocks this one, so it has the limit of any other JSON.
    if (hasMoreValues(content, jsonValuesDefault))
      throw refused(of, `has more than ${jsonValuesDefault} elements and strings`)
    return { value: JSON.parse(content.toString("utf8")) as unknown }
  })
}

function isXml(type = ""): boolean {
  return /[/+]xml\b/i.test(type) && !/[/+]json\b/i.test(type)
}

function refused(of: "request" | "response", what: string): Refused {
  const cause = `the body of the ${of} ${what}`
  return new Refused(problem(of === "request" ? "invalid-request" : "bad-gateway", { cause }))
}

/** JSON or XML as data, by media type; other text unchanged. */
function bodyOf(exchange: Exchange, of: "request" | "response", xsiNil: "blank" | "null"): unknown {
  const message = messageOf(of)
  const body = message.body(exchange)
  if (!body.present) return null
  const type = message.headers(exchange).get("content-type") ?? ""
  // `body` is data for JSON and XML, and a text for anything else.
  if (/[/+]json\b/i.test(type)) return body.json()
  if (!isXml(type)) return body.text()
  try {
    return xmlBody(jsonOfXml(body.text(), xmlOptions), xsiNil)
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error
    throw refused(of, `is not XML: ${error.message}`)
  }
}

/**
 * An XML body for templates. An element has its name with and without prefix, also in lower case (`body.envelope.body.fault`). An element with
 * attributes still converts to its text. An element with `xsi:nil="true"` is null, or an empty text.
 */
function xmlBody(value: unknown, xsiNil: "blank" | "null"): unknown {
  if (Array.isArray(value)) return value.map((each) => xmlBody(each, xsiNil))
  if (typeof value !== "object" || value === null) return value
  const members = value as Record<string, unknown>
  if (members["xsi:nil"] === "true") return xsiNil === "null" ? null : ""
  const made = Object.fromEntries(
    Object.entries(members).map(([name, each]) => [name, xmlBody(each, xsiNil)]),
  )
  for (const [name, each] of Object.entries(made)) {
    // Declarations of namespaces are not members that a template asks for.
    if (name.startsWith("xmlns")) continue
    const local = name.slice(name.indexOf(":") + 1)
    // Not enumerable: `for` must not show an element under three names.
    for (const alias of [local, local.toLowerCase()])
      if (!Object.hasOwn(made, alias)) Object.defineProperty(made, alias, { value: each })
  }
  return shownAs(made, "#text" in made ? String(made["#text"]) : "")
}

/** An object with members that converts to a given text. */
function shownAs<Made extends object>(made: Made, text: string): Made {
  return Object.defineProperty(made, "toString", { value: () => text })
}

function urlOf(url: PolicyUrl): object {
  const { scheme, host, port, path, queryString } = url
  const text = urlText(url)
  const query = Object.fromEntries([...url.query.entries()].map(([name, values]) => [name, values.join(",")]))
  const members = { Scheme: scheme, Host: host, Port: port, Path: path, QueryString: queryString }
  return shownAs({ ...members, Query: dictionary(query), ToUri: text, ToString: text }, text)
}

function contextOf(exchange: Exchange): object {
  const { response } = exchange
  const method = exchange.sentMethod ?? exchange.method
  return {
    RequestId: exchange.id,
    Request: {
      Method: method,
      OriginalMethod: exchange.method,
      Url: urlOf(sentUrl(exchange)),
      OriginalUrl: urlOf(askedUrl(exchange)),
      IpAddress: exchange.ip,
      MatchedParameters: dictionary({ ...exchange.parameters }),
      HasBody: exchange.requestBody.present,
      Headers: headersOf({ flat: allFields(exchange) }),
    },
    Response:
      response === undefined
        ? null
        : {
            StatusCode: response.status,
            StatusReason: response.reason ?? "",
            Method: method,
            Headers: headersOf(response.headers),
          },
    Variables: variablesOf(exchange),
  }
}

/** Each variable is converted on access: a body in a variable is not parsed for a template that does not use it. */
function variablesOf({ variables }: Exchange): Readonly<Record<string, unknown>> {
  const made = plainObject<unknown>()
  for (const [name, value] of variables) {
    let memo: { readonly value: unknown } | undefined
    const get = (): unknown => {
      // Computed once: a template often reads a variable in a loop.
      memo ??= { value: plain(value) }
      return memo.value
    }
    Object.defineProperty(made, name, { get, enumerable: true, configurable: true })
  }
  return dictionary(made)
}

/** By names in lower case and in the usual spelling (`Content-Type`): templates compare names exactly. */
function headersOf({ flat }: Pick<HeaderList, "flat">): Readonly<Record<string, string>> {
  const headers = plainObject<string>()
  const spelled = new Set<string>()
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] as string
    const line = fieldText(flat[at + 1] as string)
    const value = name in headers ? `${headers[name]},${line}` : line
    const usual = usualSpelling(name)
    headers[name] = value
    headers[usual] = value
    spelled.add(usual)
  }
  return dictionary({ ...headers }, spelled)
}

/** `for` iterates over a dictionary as pairs with `Key` and `Value`, as in .NET; each of `keys` once. */
function dictionary<Value>(
  values: Record<string, Value>,
  keys: Iterable<string> = Object.keys(values),
): Readonly<Record<string, Value>> {
  const pairs = () =>
    [...keys].map((key) => Object.assign([key, values[key]], { Key: key, Value: values[key] as Value }))
  return Object.defineProperty(values, Symbol.iterator, { value: () => pairs()[Symbol.iterator]() })
}

/** A value that a template cannot show is nil. */
function plain(value: unknown): unknown {
  if (value instanceof CsObject) return plainValue(value)
  try {
    return toJson(value)
  } catch {
    return null
  }
}
