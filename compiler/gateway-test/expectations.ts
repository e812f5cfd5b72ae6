import type { Sent } from "../../runtime/gateway/in-process/passage.ts"
import type { FieldLine } from "../../runtime/gateway/in-process/world.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { parsedJson, readCheck, valuesOf } from "./cel-checks.ts"
import type { Expectation, Mismatch, Observed } from "./gateway-suite.ts"
import { firstDifference } from "./json-difference.ts"
import { durationMs, type TreeReader } from "./tree-reader.ts"
import { jsonOf, type Tree, type TreeEntry } from "./value-tree.ts"
import { readWebSocket } from "./web-sockets.ts"

const expectKeys = [
  ...["status", "headers", "body", "json", "check", "problem", "reason", "by", "route"],
  ...["backends", "left", "decision", "granted", "revoked", "log", "took", "websocket"],
]
const sentKeys = ["method", "path", "headers", "body", "json"]
const decisionKeys = ["allowed", "user", "relation", "object", "store", "proof"]

/** Reads `expect`: one expectation for each thing that must be true. */
export class ExpectationReader {
  readonly #reader: TreeReader
  readonly #plan: Plan["plan"]

  constructor(reader: TreeReader, { plan }: Plan) {
    this.#reader = reader
    this.#plan = plan
  }

  /** `of`: `request`, or a WebSocket that is used without one. */
  read(tree: Tree, of: "request" | "websocket"): Expectation[] {
    const fields = this.#reader.fields(tree, "`expect`", expectKeys)
    if (fields === undefined) return []
    if (of === "websocket")
      for (const name of expectKeys)
        if (name !== "websocket" && fields.has(name))
          this.#reader.report.add(
            "SP6005",
            fields.entry(name)?.key,
            `\`${name}\` is about a request, and this step has no \`request\``,
            { help: "Expect it in the step with the request." },
          )
    const readers: Readonly<Record<string, (entry: TreeEntry) => readonly (Expectation | undefined)[]>> = {
      status: (entry) => [this.#status(entry)],
      headers: ({ value }) => this.#headers(value, "header", (passage) => passage.response.headers),
      body: ({ value }) => [this.#text(value, "body", (passage) => passage.response.body.toString("utf8"))],
      json: ({ value }) => [this.#json(value, "body", (passage) => passage.response.body)],
      check: ({ value }) => this.#reader.oneOrMore(value).map((each) => readCheck(each, this.#reader)),
      problem: ({ value }) => [this.#text(value, "problem", ({ finished }) => finished.problem)],
      reason: ({ value }) => [this.#text(value, "reason", ({ finished }) => finished.reason)],
      by: ({ value }) => [this.#by(value)],
      route: ({ value }) => [this.#route(value)],
      backends: (entry) => this.#backends(entry),
      left: (entry) => this.#left(entry),
      decision: ({ value }) => this.#reader.oneOrMore(value).map((each) => this.#decision(each)),
      granted: ({ value }) => [this.#changes(value, "grant")],
      revoked: ({ value }) => [this.#changes(value, "revoke")],
      log: ({ value }) => this.#log(value),
      took: ({ value }) => [this.#took(value)],
      websocket: ({ value }) => readWebSocket(value, this.#reader),
    }
    return expectKeys.flatMap((name) => {
      const entry = fields.entry(name)
      return entry === undefined ? [] : (readers[name]?.(entry) ?? []).flatMap((each) => each ?? [])
    })
  }

  #status({ value }: TreeEntry): Expectation | undefined {
    const wanted = this.#reader.whole(value, "`status`", 100)
    if (wanted === undefined) return undefined
    return {
      ...{ what: "status", span: value.span },
      differs: ({ response }) =>
        response.status === wanted ? undefined : { expected: String(wanted), got: String(response.status) },
    }
  }

  /** `null`: the header must be absent; a list: its lines in order. */
  #headers(
    tree: Tree,
    what: string,
    of: (passage: Observed) => readonly FieldLine[] | undefined,
  ): (Expectation | undefined)[] {
    return [...(this.#reader.entries(tree, "`headers`") ?? [])].map(([name, { value }]) => {
      const isAbsent = value.is === "scalar" && value.value === null
      const wanted = isAbsent
        ? []
        : this.#reader.oneOrMore(value).map((each) => this.#reader.text(each, `the header \`${name}\``))
      return {
        ...{ what: `${what} ${name.toLowerCase()}`, span: value.span },
        differs: (passage) => {
          const lines = of(passage)
          if (lines === undefined) return undefined
          const got = valuesOf(lines, name)
          const isSame = got.length === wanted.length && got.every((each, at) => each === wanted[at])
          return isSame ? undefined : { expected: linesText(wanted), got: linesText(got) }
        },
      }
    })
  }

  #text(tree: Tree, what: string, of: (passage: Observed) => string | undefined): Expectation | undefined {
    const isAbsent = tree.is === "scalar" && tree.value === null
    const wanted = isAbsent ? undefined : this.#reader.text(tree, `\`${what}\``)
    if (wanted === undefined && !isAbsent) return undefined
    return {
      ...{ what, span: tree.span },
      differs: (passage) => {
        const got = of(passage)
        return got === wanted || (isAbsent && got === "")
          ? undefined
          : { expected: wanted ?? "none", got: got ?? "none" }
      },
    }
  }

  #json(tree: Tree, what: string, of: (passage: Observed) => Buffer | undefined): Expectation {
    const wanted = jsonOf(tree)
    return {
      ...{ what, span: tree.span },
      differs: (passage) => {
        const content = of(passage)
        if (content === undefined) return undefined
        const got = parsedJson(content)
        if (got === undefined)
          return { expected: JSON.stringify(wanted), got: content.toString("utf8") || "no body" }
        return firstDifference(wanted, got)
      },
    }
  }

  /** The kind of the step that responded, or its place: `require`, `gateway.conf:41`. */
  #by(tree: Tree): Expectation | undefined {
    const wanted = this.#reader.text(tree, "`by`")
    if (wanted === undefined) return undefined
    return {
      ...{ what: "by", span: tree.span },
      differs: ({ finished }) => {
        const { kind = "the backend", place = "" } = finished.answeredBy ?? {}
        const isIt = wanted === kind || place.split(" or ").includes(wanted)
        return isIt ? undefined : { expected: wanted, got: place === "" ? kind : `${kind} (${place})` }
      },
    }
  }

  #route(tree: Tree): Expectation | undefined {
    const wanted = this.#reader.text(tree, "`route`")
    if (wanted === undefined) return undefined
    const routes = Object.keys(this.#plan.routes)
    if (!routes.includes(wanted)) return this.#reader.unknown(tree.span, "route", wanted, routes)
    return {
      ...{ what: "route", span: tree.span },
      differs: ({ finished }) =>
        finished.route === wanted ? undefined : { expected: wanted, got: finished.route ?? "no route" },
    }
  }

  /** An empty map: no backend gets a request. A backend with an empty value only has to get one. */
  #backends({ value, key }: TreeEntry): (Expectation | undefined)[] {
    const entries = this.#reader.entries(value, "`backends`")
    if (entries === undefined) return []
    if (entries.size === 0)
      return [
        {
          ...{ what: "backends", span: key },
          differs: ({ sent }) =>
            sent.length === 0
              ? undefined
              : { expected: "no request to a backend", got: sent.map(sentText).join(", ") },
        },
      ]
    const backends = Object.keys(this.#plan.backends)
    return [...entries].flatMap(([name, entry]) => {
      if (backends.includes(name) || /^https?:\/\//.test(name)) return this.#backend(name, entry)
      return [this.#reader.unknown(entry.key, "backend", name, backends)]
    })
  }

  #backend(name: string, { key, value }: TreeEntry): (Expectation | undefined)[] {
    const requestsOf = ({ sent }: Observed): readonly Sent[] =>
      sent.filter(({ backend, origin }) => (backend ?? origin) === name)
    const wanted = value.is === "list" ? value.items : [value]
    const count: Expectation = {
      ...{ what: `backend ${name}`, span: key },
      differs: (passage) => {
        const got = requestsOf(passage).length
        if (got === wanted.length) return undefined
        return { expected: requests(wanted.length), got: requests(got) }
      },
    }
    return [
      count,
      ...wanted.flatMap((tree, at) => this.#sent(name, tree, (passage) => requestsOf(passage)[at])),
    ]
  }

  #sent(name: string, tree: Tree, of: (passage: Observed) => Sent | undefined): (Expectation | undefined)[] {
    const fields = this.#reader.fields(tree, "a request to a backend", sentKeys)
    const what = `backend ${name}`
    const found: (Expectation | undefined)[] = []
    const take = (key: string, make: (value: Tree) => readonly (Expectation | undefined)[]) => {
      const value = fields?.get(key)
      if (value !== undefined) found.push(...make(value))
    }
    // Without a request, the count differs, and that is the one thing to say.
    const text = (value: Tree, part: string, read: (sent: Sent) => string) =>
      this.#text(value, `${what}: ${part}`, (passage) => {
        const sent = of(passage)
        return sent === undefined ? this.#reader.text(value, part) : read(sent)
      })
    take("method", (value) => [text(value, "method", ({ method }) => method)])
    take("path", (value) => [text(value, "path", ({ target }) => target)])
    take("headers", (value) => this.#headers(value, `${what}: header`, (passage) => of(passage)?.headers))
    take("body", (value) => [text(value, "body", ({ body }) => body.toString("utf8"))])
    take("json", (value) => [this.#json(value, `${what}: body`, (passage) => of(passage)?.body)])
    return found
  }

  /** A number for the only limit, or a map from limits as gateway.conf has them: `100 per 1m: 99`. */
  #left({ key, value }: TreeEntry): (Expectation | undefined)[] {
    if (value.is === "scalar") {
      const wanted = this.#reader.whole(value, "`left`", 0)
      if (wanted === undefined) return []
      return [leftExpectation("left", value, wanted, ({ limits }) => limits)]
    }
    return [...(this.#reader.entries(value, "`left`") ?? [])].map(([terms, { key: at, value: count }]) => {
      const wanted = this.#reader.whole(count, `\`${terms}\``, 0)
      const [, calls, period = ""] = /^(\d+)(?: calls)? per (\w+)$/.exec(terms) ?? []
      const periodMs = durationMs(period)
      if (calls === undefined || periodMs === undefined) {
        this.#reader.report.add("SP6002", at, `\`${terms}\` is not a limit; for example \`100 per 1m\``)
        return undefined
      }
      if (wanted === undefined) return undefined
      return leftExpectation(`left of ${terms}`, { ...count, span: key }, wanted, ({ limits }) =>
        limits.filter((each) => each.callsMax === Number(calls) && each.periodSeconds * 1000 === periodMs),
      )
    })
  }

  #decision(tree: Tree): Expectation | undefined {
    const fields = this.#reader.fields(tree, "`decision`", decisionKeys)
    if (fields === undefined) return undefined
    const allowed = this.#reader.flag(fields.get("allowed"), "`allowed`")
    const words = (["user", "relation", "object", "store"] as const).flatMap((name) => {
      const text = this.#reader.text(fields.get(name), `\`${name}\``)
      return text === undefined ? [] : [{ name, text }]
    })
    const proof = this.#reader
      .oneOrMore(fields.get("proof") ?? { is: "list", span: tree.span, items: [] })
      .flatMap((each) => this.#reader.text(each, "`proof`") ?? [])
    const wanted = [
      ...words.map(({ name, text }) => `${name} ${text}`),
      ...(allowed === undefined ? [] : [verdict(allowed)]),
    ]
    return {
      ...{ what: "decision", span: tree.span, needsProof: proof.length > 0 },
      differs: ({ decisions }) => {
        const fitting = decisions.filter(
          (decision) =>
            words.every(({ name, text }) => decision[name] === text) &&
            (allowed === undefined || decision.allowed === allowed) &&
            proof.every((part) => decision.proof.includes(part)),
        )
        if (fitting.length > 0) return undefined
        const expected = [...wanted, ...proof.map((part) => `proof with ${part}`)].join(", ")
        const got = decisions.map(
          ({ user, relation, object, allowed: was, proof: text }) =>
            `${user} ${relation} ${object}: ${verdict(was)}${proof.length > 0 ? `; ${text.trim()}` : ""}`,
        )
        return { expected, got: got.length === 0 ? "no decision" : got.join(", ") }
      },
    }
  }

  /** The tuples that `grant` or `revoke` changed, in order. */
  #changes(tree: Tree, statement: "grant" | "revoke"): Expectation {
    const wanted = this.#reader.items(tree, `\`${statement}ed\``).flatMap((item) => {
      const fields = this.#reader.fields(item, "a tuple", ["user", "relation", "object"])
      const words = ["user", "relation", "object"].map((name) =>
        this.#reader.text(fields?.get(name), `\`${name}\``),
      )
      return fields === undefined ? [] : [words.join(" ")]
    })
    return {
      ...{ what: `${statement}ed`, span: tree.span },
      differs: ({ changes }) => {
        const got = changes.flatMap(({ statement: each, tuple, failure }) =>
          each !== statement || tuple === undefined || failure !== undefined
            ? []
            : [`${tuple.user} ${tuple.relation} ${tuple.object}`],
        )
        return got.join("\n") === wanted.join("\n")
          ? undefined
          : { expected: listText(wanted), got: listText(got) }
      },
    }
  }

  /** Each text must be in a line that a step wrote to the log; `null`: there is no line. */
  #log(tree: Tree): Expectation[] {
    const lines = ({ log }: Observed) => log.map(({ message }) => message)
    if (tree.is === "scalar" && tree.value === null)
      return [
        {
          ...{ what: "log", span: tree.span },
          differs: (passage) =>
            passage.log.length === 0 ? undefined : { expected: "no line", got: lines(passage).join("; ") },
        },
      ]
    return this.#reader.oneOrMore(tree).flatMap((each) => {
      const wanted = this.#reader.text(each, "`log`")
      if (wanted === undefined) return []
      return [
        {
          ...{ what: "log", span: each.span },
          differs: (passage: Observed) => {
            const got = lines(passage)
            if (got.some((line) => line.includes(wanted))) return undefined
            return { expected: wanted, got: got.length === 0 ? "no line" : got.join("; ") }
          },
        },
      ]
    })
  }

  #took(tree: Tree): Expectation | undefined {
    const wanted = this.#reader.duration(tree, "`took`")
    if (wanted === undefined) return undefined
    return {
      ...{ what: "took", span: tree.span },
      differs: ({ finished }) =>
        finished.durationMs === wanted
          ? undefined
          : { expected: `${wanted} ms`, got: `${finished.durationMs} ms` },
    }
  }
}

function leftExpectation(
  what: string,
  { span }: Pick<Tree, "span">,
  wanted: number,
  of: (passage: Observed) => Observed["limits"],
): Expectation {
  return {
    ...{ what, span },
    differs: (passage): Mismatch | undefined => {
      const found = of(passage)
      if (found.some(({ left }) => left === wanted)) return undefined
      const got = found.map(
        ({ callsMax, periodSeconds, left }) => `${left} of ${callsMax} per ${periodSeconds} s`,
      )
      return {
        expected: String(wanted),
        got: got.length === 0 ? "no such limit was reached" : got.join(", "),
      }
    },
  }
}

function verdict(allowed: boolean | undefined): string {
  return allowed === undefined ? "no answer" : allowed ? "allowed" : "denied"
}

function sentText({ backend, origin, method, target }: Sent): string {
  return `${method} ${target} to ${backend ?? origin}`
}

function requests(count: number): string {
  return count === 1 ? "1 request" : `${count} requests`
}

function linesText(values: readonly (string | undefined)[]): string {
  return values.length === 0 ? "no such header" : values.join(", ")
}

function listText(values: readonly string[]): string {
  return values.length === 0 ? "none" : values.join(", ")
}
