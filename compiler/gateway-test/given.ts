import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import type {
  BackendAnswer,
  FieldLine,
  PresentedCertificate,
} from "../../runtime/gateway/in-process/world.ts"
import { canonicalName } from "../../runtime/plan/distinguished-name.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { FittingTuples } from "../model-test/fit.ts"
import type { PlacedTuple } from "../model-test/suite.ts"
import type { IssuedSubscription, PlayedAnswer, TestCaller, TestGiven } from "./gateway-suite.ts"
import { durationMs, type TreeFields, type TreeReader } from "./tree-reader.ts"
import { jsonOf, type Tree } from "./value-tree.ts"

/** The beginning of tests that say nothing: a fixed time, so that results do not depend on the day. */
export const nothingGiven: TestGiven = {
  timeMs: Date.parse("2026-01-01T00:00:00Z"),
  environment: {},
  tuples: {},
  callers: new Map(),
  subscriptions: [],
  answers: new Map(),
  issuersDown: new Set(),
}

const givenKeys = ["time", "env", "tuples", "callers", "subscriptions", "backends", "issuers-down"]
const callerKeys = [
  ...[
    "token",
    "issuer",
    "forged",
    "subscription",
    "key",
    "user",
    "password",
    "signature",
    "certificate",
    "login",
    "logout",
    "ip",
    "headers",
  ],
]
const nameKinds = ["dns", "uri", "email", "ip"] as const
const certificateKeys = ["subject", "issuer", ...nameKinds, "serial", "thumbprint", "fails"]
const certificateFailures = ["expired", "revoked", "untrusted"] as const
const answerKeys = ["on", "status", "headers", "body", "json", "delay", "fails"]
const failures = ["refused", "reset", "silent"] as const
const timeClaims = ["exp", "nbf", "iat"]

/** Reads what tests begin with. Names are checked against the plan. */
export class GivenReader {
  readonly #reader: TreeReader
  readonly #plan: Plan["plan"]
  readonly #models = new Map<string, LoadedModel>()

  constructor(reader: TreeReader, { plan }: Plan) {
    this.#reader = reader
    this.#plan = plan
  }

  get stores(): readonly string[] {
    return Object.keys(this.#plan.authz?.stores ?? {})
  }

  /** What is given here, in addition to what is given around it (`outer`). */
  read(tree: Tree | undefined, outer: TestGiven): TestGiven {
    if (tree === undefined) return outer
    const reader = this.#reader
    const fields = reader.fields(tree, "`given`", givenKeys)
    if (fields === undefined) return outer
    return {
      timeMs: reader.time(fields.get("time"), "`time`") ?? outer.timeMs,
      environment: { ...outer.environment, ...this.#environment(fields.get("env")) },
      tuples: this.#tuples(fields.get("tuples"), outer),
      callers: new Map([...outer.callers, ...this.#callers(fields.get("callers"))]),
      subscriptions: [...outer.subscriptions, ...this.#subscriptions(fields.get("subscriptions"))],
      answers: new Map([...outer.answers, ...this.#answers(fields.get("backends"))]),
      issuersDown: this.#issuersDown(fields.get("issuers-down")) ?? outer.issuersDown,
    }
  }

  /** A caller by its name in `callers`, or written in place. */
  caller(tree: Tree, given: TestGiven): TestCaller | undefined {
    if (tree.is !== "scalar") return this.#caller(tree)
    const name = this.#reader.text(tree, "`as`")
    if (name === undefined) return undefined
    return (
      given.callers.get(name) ?? this.#reader.unknown(tree.span, "caller", name, [...given.callers.keys()])
    )
  }

  /** Field lines of a map: a list gives several lines of one name. */
  headers(tree: Tree | undefined): FieldLine[] {
    if (tree === undefined) return []
    const lines: FieldLine[] = []
    for (const [name, { value }] of this.#reader.entries(tree, "`headers`") ?? [])
      for (const each of this.#reader.oneOrMore(value)) {
        const text = this.#reader.text(each, `the header \`${name}\``)
        if (text !== undefined) lines.push([name, text])
      }
    return lines
  }

  /** The body of `body` (text) or `json`, and its Content-Type if there is none in `headers`. */
  body(
    fields: TreeFields,
    headers: readonly FieldLine[],
  ): { body: Buffer | undefined; headers: FieldLine[] } {
    const json = fields.get("json")
    const text = this.#reader.text(fields.get("body"), "`body`")
    if (json !== undefined && fields.has("body"))
      this.#reader.report.add("SP6005", fields.entry("json")?.key, "`json` and `body` are both given")
    if (json === undefined)
      return { body: text === undefined ? undefined : Buffer.from(text), headers: [...headers] }
    const typed = headers.some(([name]) => name.toLowerCase() === "content-type")
    return {
      body: Buffer.from(JSON.stringify(jsonOf(json))),
      headers: typed ? [...headers] : [...headers, ["content-type", "application/json"]],
    }
  }

  #environment(tree: Tree | undefined): Record<string, string> {
    const found: Record<string, string> = {}
    if (tree !== undefined)
      for (const [name, { value }] of this.#reader.entries(tree, "`env`") ?? []) {
        const text = this.#reader.text(value, `\`${name}\``)
        if (text !== undefined) found[name] = text
      }
    return found
  }

  /** A list for the only store, or a map from stores to lists. */
  #tuples(tree: Tree | undefined, outer: TestGiven): TestGiven["tuples"] {
    if (tree === undefined) return outer.tuples
    const reader = this.#reader
    const { stores } = this
    const [only] = stores
    if (tree.is === "list") {
      if (stores.length !== 1 || only === undefined)
        return (
          reader.wrong(
            tree,
            `\`tuples\` must be a map from stores to lists: the plan has ${stores.length} stores`,
          ) ?? outer.tuples
        )
      return { ...outer.tuples, [only]: this.#fittingTuples(only, tree.items, outer) }
    }
    const tuples = { ...outer.tuples }
    for (const [store, { key, value }] of reader.entries(tree, "`tuples`") ?? [])
      if (!stores.includes(store)) reader.unknown(key, "store", store, stores)
      else
        tuples[store] = this.#fittingTuples(store, reader.items(value, `the tuples of \`${store}\``), outer)
    return tuples
  }

  #fittingTuples(store: string, items: readonly Tree[], outer: TestGiven): readonly TupleKey[] {
    const model = this.#plan.models[this.#plan.authz?.stores[store]?.model ?? ""]
    const own = items.flatMap((item) => this.#tuple(item) ?? [])
    const before = outer.tuples[store] ?? []
    if (model === undefined) return [...before, ...own.map(({ key }) => key)]
    let loaded = this.#models.get(store)
    if (loaded === undefined) {
      loaded = loadModel(model)
      this.#models.set(store, loaded)
    }
    return [...before, ...new FittingTuples(loaded, this.#reader.report).add(own).keys]
  }

  #tuple(tree: Tree): PlacedTuple | undefined {
    const reader = this.#reader
    const fields = reader.fields(tree, "a tuple", ["user", "relation", "object", "condition"])
    if (fields === undefined) return undefined
    const [user, relation, object] = ["user", "relation", "object"].map((name) =>
      fields.has(name)
        ? reader.text(fields.get(name), `\`${name}\``)
        : reader.missing(tree.span, `this tuple has no \`${name}\``),
    )
    if (user === undefined || relation === undefined || object === undefined) return undefined
    const condition = this.#condition(fields.get("condition"))
    return {
      key: { user, relation, object, ...(condition === undefined ? {} : { condition }) },
      span: tree.span,
    }
  }

  #condition(tree: Tree | undefined): TupleKey["condition"] {
    if (tree === undefined) return undefined
    const fields = this.#reader.fields(tree, "`condition`", ["name", "context"])
    const name = this.#reader.text(fields?.get("name"), "`name`")
    if (fields === undefined) return undefined
    if (name === undefined) return this.#reader.missing(tree.span, "this condition has no `name`")
    const context = fields.get("context")
    if (context === undefined || this.#reader.entries(context, "`context`") === undefined) return { name }
    return { name, context: jsonOf(context) as Record<string, unknown> }
  }

  #callers(tree: Tree | undefined): [string, TestCaller][] {
    if (tree === undefined) return []
    return [...(this.#reader.entries(tree, "`callers`") ?? [])].flatMap(([name, { value }]) => {
      const caller = this.#caller(value)
      return caller === undefined ? [] : [[name, caller] as [string, TestCaller]]
    })
  }

  #caller(tree: Tree): TestCaller | undefined {
    const reader = this.#reader
    const fields = reader.fields(tree, "a caller", callerKeys)
    if (fields === undefined) return undefined
    const user = reader.text(fields.get("user"), "`user`")
    const password = reader.text(fields.get("password"), "`password`")
    if (fields.has("issuer") && !fields.has("token"))
      reader.missing(
        fields.entry("issuer")?.key ?? tree.span,
        "`issuer` describes a token, and this caller has no `token`",
      )
    if (["forged", "token", "signature", "logout"].filter((key) => fields.has(key)).join() === "forged")
      reader.missing(
        fields.entry("forged")?.key ?? tree.span,
        "`forged` describes a token, a signature or a logout, and this caller has none of them",
      )
    return {
      token: this.#token(fields),
      subscription: reader.text(fields.get("subscription"), "`subscription`"),
      key: reader.text(fields.get("key"), "`key`"),
      password: user === undefined ? undefined : { user, password: password ?? "" },
      signature: this.#signature(fields),
      certificate: this.#certificate(fields.get("certificate")),
      login: this.#login(fields.get("login")),
      logout: this.#logout(fields),
      ip: reader.text(fields.get("ip"), "`ip`"),
      headers: this.headers(fields.get("headers")),
    }
  }

  /** Claims of the ID token, or `refused`. */
  #login(tree: Tree | undefined): TestCaller["login"] {
    if (tree === undefined) return undefined
    const reader = this.#reader
    if (Object.keys(this.#plan.oidcClients ?? {}).length === 0)
      return reader.missing(tree.span, "the plan has no `oidc` client that logs browsers in")
    if (tree.is === "scalar" && tree.value === "refused") return { claims: {}, isRefused: true }
    if (tree.is !== "map")
      return reader.wrong(tree, "`login` must be a map of claims, for example `{ sub: ann }`, or `refused`")
    const claims = jsonOf(tree) as Record<string, unknown>
    if (typeof claims["sub"] !== "string") return reader.missing(tree.span, "this login has no `sub`")
    return { claims, isRefused: false }
  }

  /** Claims of the logout token. */
  #logout(fields: TreeFields): TestCaller["logout"] {
    const tree = fields.get("logout")
    if (tree === undefined) return undefined
    const reader = this.#reader
    const clients = Object.values(this.#plan.oidcClients ?? {})
    if (!clients.some(({ backChannelLogout }) => backChannelLogout !== undefined))
      return reader.missing(tree.span, "no `oidc` client of the plan has `back-channel-logout`")
    if (tree.is !== "map")
      return reader.wrong(tree, "`logout` must be a map of claims, for example `{ sub: ann }`")
    const isForged = reader.flag(fields.get("forged"), "`forged`") ?? false
    return { claims: jsonOf(tree) as Record<string, unknown>, isForged }
  }

  /** The subject, or a map of what the certificate has. */
  #certificate(tree: Tree | undefined): PresentedCertificate | undefined {
    if (tree === undefined) return undefined
    const reader = this.#reader
    if (!this.#plan.gateway?.listen.some(({ tls }) => tls?.clientCertificates !== undefined))
      return reader.missing(tree.span, "no listener of the gateway asks for client certificates")
    const map = tree.is === "scalar" ? undefined : reader.fields(tree, "`certificate`", certificateKeys)
    if (tree.is !== "scalar" && map === undefined) return undefined
    const subject = this.#distinguishedName(map === undefined ? tree : map.get("subject"), "subject")
    const issuer = this.#distinguishedName(map?.get("issuer"), "issuer") ?? "CN=Test authority"
    if (subject === undefined)
      return map?.has("subject") === false
        ? reader.missing(tree.span, "this certificate has no `subject`")
        : undefined
    const names = nameKinds.flatMap((kind) => {
      const listed = map?.get(kind)
      const values = listed === undefined ? [] : reader.oneOrMore(listed)
      return values.flatMap((each) => {
        const value = reader.text(each, `\`${kind}\``)
        return value === undefined ? [] : [{ kind, value }]
      })
    })
    const fails = reader.text(map?.get("fails"), "`fails`")
    const fault = certificateFailures.find((each) => each === fails)
    if (fails !== undefined && fault === undefined)
      return reader.unknown(map?.get("fails")?.span ?? tree.span, "failure of certificates", fails, [
        ...certificateFailures,
      ])
    return {
      ...{ subject, issuer, names, fails: fault },
      serial: reader.text(map?.get("serial"), "`serial`"),
      thumbprint: this.#thumbprint(map?.get("thumbprint")),
    }
  }

  #distinguishedName(tree: Tree | undefined, what: string): string | undefined {
    const text = this.#reader.text(tree, `\`${what}\``)
    if (text === undefined || tree === undefined) return undefined
    return (
      canonicalName(text) ??
      this.#reader.wrong(tree, `\`${what}\` must be a distinguished name, for example \`CN=orders,O=Acme\``)
    )
  }

  #thumbprint(tree: Tree | undefined): string | undefined {
    const text = this.#reader.text(tree, "`thumbprint`")
    if (text === undefined || tree === undefined || /^(?:[\da-f]{40}|[\da-f]{64})$/i.test(text)) return text
    return this.#reader.wrong(tree, "`thumbprint` must be SHA-256 or SHA-1 in hexadecimal")
  }

  /** `true`, the name of a secret, or a map of both the secret and the time. */
  #signature(fields: TreeFields): TestCaller["signature"] {
    const reader = this.#reader
    const tree = fields.get("signature")
    if (tree === undefined) return undefined
    const isForged = reader.flag(fields.get("forged"), "`forged`") ?? false
    if (tree.is === "scalar" && tree.value === true) return { offsetMs: 0, isForged }
    const map = tree.is === "scalar" ? undefined : reader.fields(tree, "`signature`", ["secret", "time"])
    if (tree.is !== "scalar" && map === undefined) return undefined
    const secret = this.#named(map?.get("secret") ?? (map === undefined ? tree : undefined), "secret", [
      ...Object.keys(this.#plan.secrets),
    ])
    return { secret, offsetMs: reader.duration(map?.get("time"), "`time`") ?? 0, isForged }
  }

  #token(fields: TreeFields): TestCaller["token"] {
    const reader = this.#reader
    const tree = fields.get("token")
    if (tree === undefined) return undefined
    const entries = reader.entries(tree, "`token`")
    const issuer = this.#issuer(fields, tree)
    if (entries === undefined) return undefined
    const claims: Record<string, unknown> = {}
    const relative: Record<string, number> = {}
    for (const [name, { value }] of entries) {
      const json = jsonOf(value)
      const ms = timeClaims.includes(name) && typeof json === "string" ? durationMs(json) : undefined
      if (ms === undefined) claims[name] = json
      else relative[name] = ms
    }
    return { issuer, claims, relative, isForged: reader.flag(fields.get("forged"), "`forged`") ?? false }
  }

  /** The named issuer of a token; undefined: that of the route. */
  #issuer(fields: TreeFields, token: Tree): string | undefined {
    const issuers = Object.keys(this.#plan.issuers)
    const named = fields.get("issuer")
    if (named === undefined) {
      if (issuers.length === 0)
        this.#reader.missing(token.span, "the plan has no issuer that could sign this token")
      return undefined
    }
    const name = this.#reader.text(named, "`issuer`")
    if (name === undefined || issuers.includes(name)) return name
    return this.#reader.unknown(named.span, "issuer", name, issuers)
  }

  #subscriptions(tree: Tree | undefined): IssuedSubscription[] {
    if (tree === undefined) return []
    const reader = this.#reader
    return [...(reader.entries(tree, "`subscriptions`") ?? [])].flatMap(([name, { value }]) => {
      const fields = reader.fields(value, "a subscription", ["key", "product", "api"])
      if (fields === undefined) return []
      const product = this.#named(fields.get("product"), "product", Object.keys(this.#plan.products))
      const api = this.#named(fields.get("api"), "api", this.#apis)
      const key = reader.text(fields.get("key"), "`key`") ?? `key-of-${name}`
      return [{ name, key, product, api }]
    })
  }

  get #apis(): readonly string[] {
    return [...new Set(Object.values(this.#plan.routes).map(({ api }) => api))]
  }

  #named(tree: Tree | undefined, what: string, known: readonly string[]): string | undefined {
    const name = this.#reader.text(tree, `\`${what}\``)
    if (name === undefined || tree === undefined || known.includes(name)) return name
    return this.#reader.unknown(tree.span, what, name, known)
  }

  #issuersDown(tree: Tree | undefined): ReadonlySet<string> | undefined {
    if (tree === undefined) return undefined
    const issuers = Object.keys(this.#plan.issuers)
    return new Set(
      this.#reader
        .items(tree, "`issuers-down`")
        .flatMap((item) => this.#named(item, "issuer", issuers) ?? []),
    )
  }

  /** Backends by name; other servers by their origin. */
  #answers(tree: Tree | undefined): [string, readonly PlayedAnswer[]][] {
    if (tree === undefined) return []
    const reader = this.#reader
    const backends = Object.keys(this.#plan.backends)
    return [...(reader.entries(tree, "`backends`") ?? [])].flatMap(([name, { key, value }]) => {
      if (!backends.includes(name) && !/^https?:\/\//.test(name)) {
        reader.unknown(key, "backend", name, backends)
        return []
      }
      const played = reader.oneOrMore(value).flatMap((each) => this.#answer(each) ?? [])
      return [[name, played] as [string, readonly PlayedAnswer[]]]
    })
  }

  #answer(tree: Tree): PlayedAnswer | undefined {
    const reader = this.#reader
    const fields = reader.fields(tree, "a response of a backend", answerKeys)
    if (fields === undefined) return undefined
    const delayMs = reader.duration(fields.get("delay"), "`delay`") ?? 0
    const on = this.#pattern(fields.get("on"))
    const fails = fields.get("fails")
    if (fails === undefined) {
      const { body, headers } = this.body(fields, this.headers(fields.get("headers")))
      const status = reader.whole(fields.get("status"), "`status`", 100) ?? 200
      return { on, answer: { status, headers, delayMs, ...(body === undefined ? {} : { body }) } }
    }
    const word = reader.text(fails, "`fails`")
    const failure = failures.find((each) => each === word)
    if (word === undefined) return undefined
    if (failure === undefined) return reader.unknown(fails.span, "failure of backends", word, failures)
    const answer: BackendAnswer = { failure, delayMs }
    return { on, answer }
  }

  #pattern(tree: Tree | undefined): PlayedAnswer["on"] {
    const text = this.#reader.text(tree, "`on`")
    if (text === undefined || tree === undefined) return undefined
    const [, method, path] = /^(\S+)\s+(\/\S*)$/.exec(text) ?? []
    if (method !== undefined && path !== undefined) return { method: method.toUpperCase(), path }
    return this.#reader.wrong(tree, "`on` must be a method and a path, for example `GET /orders/1`")
  }
}
