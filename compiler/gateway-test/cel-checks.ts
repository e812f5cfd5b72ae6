import {
  type CompiledExpression,
  checkExpression,
  compileExpression,
} from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import type { FieldLine } from "../../runtime/gateway/in-process/world.ts"
import type { Expectation, Observed } from "./gateway-suite.ts"
import type { TreeReader } from "./tree-reader.ts"
import type { Tree } from "./value-tree.ts"

/** What an expression of `check` may name. `sent` are the requests that backends got, in order; header names are in lower case. */
const environment = declareEnvironment({
  variables: {
    response: "response",
    sent: "list<sent>",
    route: "string",
    problem: "string",
    reason: "string",
  },
  objects: {
    response: {
      fields: { status: "int", body: "dyn", text: "string" },
      methods: {
        header: { parameters: ["string"], returns: "string" },
        headers: { parameters: ["string"], returns: "list<string>" },
      },
    },
    sent: {
      fields: {
        backend: "string",
        method: "string",
        path: "string",
        query: "string",
        body: "dyn",
        text: "string",
      },
      methods: {
        header: { parameters: ["string"], returns: "string" },
        headers: { parameters: ["string"], returns: "list<string>" },
      },
    },
  },
  extended: true,
})

/** An expression that must be true of the response and of what backends got. */
export function readCheck(tree: Tree, reader: TreeReader): Expectation | undefined {
  const text = reader.text(tree, "`check`")
  if (text === undefined) return undefined
  const checked = checkExpression(text, environment, "bool")
  if (!checked.ok) {
    for (const { message } of checked.findings.slice(0, 3)) reader.report.add("SP6016", tree.span, message)
    return undefined
  }
  const holds = compileExpression(text, environment)
  return { what: "check", span: tree.span, differs: (passage) => differenceOf(text, holds, passage) }
}

function differenceOf(text: string, holds: CompiledExpression, passage: Observed) {
  const { response, sent, finished } = passage
  const bindings = {
    response: new MessageView(response.headers, response.body, { status: response.status }),
    sent: sent.map(({ backend, origin, method, target, headers, body }) => {
      const [path = "", query = ""] = target.split("?", 2)
      return new MessageView(headers, body, { backend: backend ?? origin, method, path, query })
    }),
    route: finished.route ?? "",
    problem: finished.problem ?? "",
    reason: finished.reason ?? "",
  }
  try {
    const found = holds(bindings)
    return found === true ? undefined : { expected: text, got: "false" }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return { expected: text, got: `no value: ${error.message}` }
  }
}

/** A message in expressions. */
class MessageView {
  readonly #headers: readonly FieldLine[]
  readonly #content: Buffer

  constructor(headers: readonly FieldLine[], content: Buffer, fields: Readonly<Record<string, unknown>>) {
    this.#headers = headers
    this.#content = content
    Object.assign(this, fields)
  }

  /** The JSON of the body; null when it has none, or is another kind of text. */
  get body(): unknown {
    return parsedJson(this.#content) ?? null
  }

  get text(): string {
    return this.#content.toString("utf8")
  }

  header(name: string): string {
    return this.headers(name)[0] ?? ""
  }

  headers(name: string): string[] {
    return valuesOf(this.#headers, name)
  }
}

/** The values of all field lines with the name. */
export function valuesOf(headers: readonly FieldLine[], name: string): string[] {
  const lower = name.toLowerCase()
  return headers.flatMap(([each, value]) => (each.toLowerCase() === lower ? [value] : []))
}

/** The value of JSON; undefined when it is no JSON. */
export function parsedJson(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString("utf8"))
  } catch {
    return undefined
  }
}
