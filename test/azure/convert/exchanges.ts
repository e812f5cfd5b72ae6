import { toCel } from "../../../compiler/azure/convert/csharp-to-cel.ts"
import { type Around, NoCounterpart, type VariableKind } from "../../../compiler/azure/convert/translation.ts"
import { compileCsharp } from "../../../compiler/azure/csharp/compile-csharp.ts"
import { csharpContext } from "../../../runtime/azure/context.ts"
import { compileProgram } from "../../../runtime/azure/csharp/compile.ts"
import { toText as csharpText } from "../../../runtime/azure/csharp/values.ts"
import { compileExpression, toJson, toText } from "../../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../../runtime/expression/environment.ts"
import { anyRequestContext } from "../../../runtime/expression/request-context.ts"
import { LiveBody } from "../../../runtime/gateway/exchange/live-body.ts"
import { Variables } from "../../../runtime/gateway/exchange/variables.ts"
import { errorView, makeBindings, responseView } from "../../../runtime/gateway/generation/bindings.ts"
import { verifiedToken } from "../../../runtime/policies/credentials/verified-token.ts"
import type { Exchange } from "../../../runtime/policies/exchange.ts"
import { HeaderList } from "../../../runtime/policies/messages/header-list.ts"
import { QueryString } from "../../../runtime/policies/messages/query-string.ts"

/** Chance that is the same in every run. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to less than `below`. */
  number(below: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * below)
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.number(items.length)] as Item
  }
}

export const variables: Readonly<Record<string, VariableKind>> = {
  s: { kind: "string", nullable: false },
  b: { kind: "bool", nullable: false },
  e: { kind: "string", nullable: true },
  n: { kind: "int", nullable: false },
  d: { kind: "dyn", nullable: true },
  r: { kind: "response", nullable: true },
  o: { kind: "json", nullable: false },
  t: { kind: "jwt", nullable: false },
}

const values = ["", "a", "b", "A", "a,b", " ", "Bearer x", "abc", "7"]

const names = ["a", "b", "c-d", "A"]

/** JSON as others send it, most often an object; sometimes none at all. */
function randomJson(chance: Chance): string {
  const leaf = (): unknown =>
    chance.of<unknown>([
      ...["x", "", "True", "2026-01-02T03:04:05Z", "2026-01-02T", "41", "4.5"],
      ...[5, -0, 4.5, 3e9, 1e20, true, false, null],
    ])
  const value = (depth: number): unknown => {
    const shape = chance.number(8)
    if (depth === 0 || shape > 3) return leaf()
    if (shape === 0) return [value(depth - 1), leaf()].slice(chance.number(2))
    return Object.fromEntries(
      names.filter(() => chance.number(3) > 0).map((name) => [name, value(depth - 1)]),
    )
  }
  const whole = Object.fromEntries(names.filter(() => chance.number(4) > 0).map((name) => [name, value(2)]))
  const odd = ["", " ", "null", "[1]", "{a: 1}", '{"a": 1,}', "no", '"text"']
  return chance.number(6) === 0 ? chance.of(odd) : JSON.stringify(whole)
}

/** A body that has been read, as the gateway has it. */
function bodyOf(text: string): LiveBody {
  const content = Buffer.from(text)
  const body = new LiveBody({
    sender: "request",
    headers: new HeaderList([]),
    present: content.length > 0,
    bytesMax: 1_000_000,
    read: () => Promise.resolve(content),
  })
  body.replaceAs(content)
  return body
}

const claims = ["sub", "SUB", "iss", "role", "Role", "x-y"]

function randomToken(chance: Chance): object {
  const value = (): unknown => chance.of<unknown>(["ann", "", ["a", "b"], ["a"], [], 5, null, true])
  const found = claims.filter(() => chance.number(3) === 0).map((name) => [name, value()])
  return verifiedToken("a.b.c", { claims: Object.fromEntries(found), header: { alg: "RS256" } } as never)
}

function randomVariables(chance: Chance): Variables {
  const found = new Variables()
  if (chance.number(3) > 0) found.set("s", chance.of(values))
  if (chance.number(3) > 0) found.set("e", chance.of(values))
  if (chance.number(3) > 0) found.set("b", chance.number(2) === 0)
  if (chance.number(3) > 0) found.set("n", BigInt(chance.number(5)))
  if (chance.number(3) > 0) found.set("d", chance.of<unknown>(["a", "", "abc", null, 5, true]))
  if (chance.number(3) > 0)
    found.set(
      "r",
      chance.number(3) === 0
        ? null
        : {
            status: chance.of([200, 404, 500]),
            reason: chance.of(values),
            headers: new HeaderList([]),
            body: Buffer.from(randomJson(chance)),
          },
    )
  if (chance.number(3) > 0) found.set("t", randomToken(chance))
  if (chance.number(3) > 0) {
    const text = randomJson(chance)
    if (/^\{"|^\{\}/.test(text) && !text.endsWith(",}")) found.set("o", JSON.parse(text))
  }
  return found
}

/** One request, and what has become of it: everything expressions may read, real but for the sockets. */
export function randomExchange(chance: Chance): Exchange {
  const lines = Array.from({ length: chance.number(5) }, () => [chance.of(["x-a", "x-b"]), chance.of(values)])
  const pairs = Array.from(
    { length: chance.number(4) },
    () => `${chance.of(["p", "P", "q"])}=${encodeURIComponent(chance.of(values))}`,
  )
  const headers = new HeaderList(lines.flat())
  const body = bodyOf(randomJson(chance))
  const response = { status: chance.of([200, 404, 500]), reason: chance.of(["OK", "No"]), headers, body }
  const path = chance.of(["/orders", "/orders/7", "/"])
  const plan = {
    api: "orders",
    version: chance.of([null, "v1"]),
    operation: "GET /{id}",
    method: "GET",
    path: "/orders/{id}",
    stripPrefix: "/orders",
  }
  const error = {
    source: chance.of(["forward", "configuration"]),
    scope: "",
    path: "",
    reason: chance.of(["Timeout", ""]),
    message: chance.of(values),
    section: "backend",
    policyId: "",
    status: 504,
  }
  return {
    id: "1",
    method: chance.of(["GET", "POST"]),
    path,
    ip: chance.of(["10.0.0.1", "::1"]),
    scheme: "https",
    authority: chance.of(["a.example", "a.example:8443"]),
    ...{ startedAtMs: 0, nowMs: 0 },
    route: { plan, backendUrl: undefined },
    gatewayName: "g",
    facts: {
      keyPlaces: () => ({ header: "", query: "" }),
      certificates: new Map(),
      product: () => ({ published: true }),
    },
    subscriber: chance.of([
      undefined,
      { name: "", product: "open" },
      { name: "acme", product: undefined },
      { name: "acme", product: "gold" },
    ]),
    parameters: { id: chance.of(values) },
    headers,
    query: new QueryString(pairs.join("&")),
    ...{ originalQuery: pairs.join("&"), backendQuery: "" },
    requestBody: bodyOf(randomJson(chance)),
    variables: randomVariables(chance),
    section: "outbound",
    response,
    error,
  } as unknown as Exchange
}

/** What an expression comes to: its value as text and as what it is, or none. */
type Outcome = { readonly value: unknown; readonly text: string } | "none"

/** An expression in both languages; undefined where it has no counterpart, which `why` says then. */
export interface Pair {
  readonly cel: string
  readonly nullable: boolean
  /** It was told that it may have no value where the document's has one. */
  readonly told: boolean
  both(exchange: Exchange): readonly [csharp: Outcome, cel: Outcome]
}

const environment = declareEnvironment(anyRequestContext([]))

/** @throws Error when it is no expression at all. */
export function pairOf(text: string, section: Around["section"]): Pair | undefined {
  const form = text.includes("return ") ? "block" : "expression"
  const compiled = compileCsharp({ text, at: (offset) => offset }, form, { section })
  if ("findings" in compiled)
    throw new Error(`${text}: ${compiled.findings.map(({ message }) => message).join()}`)
  const around: Around = {
    section,
    changes: new Set(),
    nameOf: (name) => name,
    unreadable: () => [],
    parameter: () => undefined,
    keyed: () => undefined,
    checkedToken: () => undefined,
    variable: (name) =>
      Object.hasOwn(variables, name)
        ? { ...(variables[name] as VariableKind), name, isSet: false }
        : undefined,
  }
  const notes = new Set<string>()
  const found = attempt(() => toCel(compiled.program, around, { notes, inText: true, source: text }))
  if (found === undefined || found.secret !== undefined) return undefined
  // JSON is written with other white space: what it says is the same.
  const isJson = found.writes !== undefined
  const made = found.writes ?? found
  const evaluate = compileExpression(made.text, environment)
  const run = compileProgram(compiled.program)
  return {
    cel: made.text,
    nullable: made.nullable,
    told: notes.size > 0,
    both: (exchange) => [
      outcome(
        () => run(csharpContext(asDocumentsHave(exchange), { trace: () => undefined, namedValue: () => "" })),
        csharpText,
        isJson ? (text) => JSON.parse(String(text)) : undefined,
      ),
      outcome(() => evaluate(bindingsOf(exchange)), toText, isJson ? sentOrMade : undefined),
    ],
  }
}

const readObject = compileProgram(
  (
    compileCsharp(
      { text: 'JObject.Parse((string)context.Variables["o"])', at: (offset) => offset },
      "expression",
      {
        section: "outbound",
      },
    ) as { program: Parameters<typeof compileProgram>[0] }
  ).program,
)

/** What text leaves in variables as plain JSON are objects of the library where a document sets them. */
function asDocumentsHave(exchange: Exchange): Exchange {
  const found = new Variables()
  for (const [name, value] of exchange.variables) found.set(name, value)
  if (found.has("o")) {
    const around = { trace: () => undefined, namedValue: () => "" }
    const text = { ...exchange, variables: new Map([["o", JSON.stringify(found.get("o"))]]) }
    found.set("o", readObject(csharpContext(text as unknown as Exchange, around)))
  }
  return { ...exchange, variables: found }
}

/** JSON that was sent as it is, or put together. */
function sentOrMade(value: unknown): unknown {
  return typeof value === "string" ? JSON.parse(value) : toJson(value)
}

function attempt<Made>(make: () => Made): Made | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof NoCounterpart) return undefined
    throw error
  }
}

function outcome(
  evaluate: () => unknown,
  text: (value: unknown) => string,
  json?: (value: unknown) => unknown,
): Outcome {
  try {
    const found = evaluate()
    if (json !== undefined) return { value: json(found), text: "" }
    const value = typeof found === "bigint" ? Number(found) : found
    // Yes and no are written otherwise: a text is made of them by a choice.
    return { value, text: value === null || typeof value === "boolean" ? "" : text(found) }
  } catch {
    return "none"
  }
}

/** As the gateway binds who calls. */
function callerOf({ subscriber }: Exchange): Record<string, unknown> {
  if (subscriber === undefined) return {}
  const { name, product = "" } = subscriber
  return { subscription: { name, product }, product: { name: product } }
}

function bindingsOf(exchange: Exchange): Record<string, unknown> {
  const { plan } = exchange.route as NonNullable<Exchange["route"]>
  const views = {
    api: { name: plan.api, version: plan.version ?? "" },
    operation: { name: plan.operation, method: plan.method, path: plan.path },
    backend: { name: "" },
  }
  const response = exchange.response as NonNullable<Exchange["response"]>
  const error = exchange.error as NonNullable<Exchange["error"]>
  const bindings = makeBindings(exchange, views, exchange.parameters, { values: new Map(), gatewayView: {} })
  return Object.assign(bindings, {
    var: (exchange.variables as Variables).view,
    ...callerOf(exchange),
    response: responseView(response),
    error: errorView(error),
  })
}
