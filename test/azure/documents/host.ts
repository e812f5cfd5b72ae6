import type { PolicyDocument } from "../../../compiler/azure/ast.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import type { DocumentHost, ExpressionSource, NamedValue, Used } from "../../../compiler/azure/site.ts"
import type { Report } from "../../../compiler/core/diagnostic.ts"
import { SourceFile, type Span } from "../../../compiler/core/source.ts"
import type { Step, StepKind } from "../../../runtime/plan/steps.ts"
import type { Expression } from "../../../runtime/plan/text.ts"

/** What stands around a document in a test: a few names, and expressions that are taken as they are. */
export class TestHost implements DocumentHost {
  readonly report: Report
  readonly steps = new Map<string, Step>()
  readonly #fragments: ReadonlyMap<string, string>
  readonly #read = new Map<string, PolicyDocument>()

  constructor(report: Report, fragments: ReadonlyMap<string, string> = new Map()) {
    this.report = report
    this.#fragments = fragments
  }

  step(step: Step, at: Span, inside: Used["inside"] = {}): Used {
    const id = String(this.steps.size)
    this.steps.set(id, step)
    return { id, origin: `${at.file.path}:${at.file.position(at.start).line}`, inside }
  }

  kindOf(id: string): StepKind | undefined {
    return this.steps.get(id)?.kind
  }

  named(name: string): NamedValue | undefined {
    const values: Record<string, NamedValue> = {
      "base-url": { constant: "https://orders.internal" },
      code: { constant: "@(context.RequestId)" },
      seconds: { value: "seconds" },
      switch: { value: "switch" },
      "signing-key": { secret: "signing_key" },
    }
    return values[name]
  }

  apis(): readonly string[] {
    return ["orders", "other"]
  }

  namedNames(): readonly string[] {
    return ["base-url", "code", "seconds", "signing-key", "switch"]
  }

  backend(id: string, span: Span): string | undefined {
    if (id === "orders") return id
    this.report.add("SP7012", span, `unknown backend \`${id}\``)
    return undefined
  }

  backends(): readonly { id: string; name: string }[] {
    return [{ id: "orders", name: "orders" }]
  }

  fragment(id: string, span: Span): PolicyDocument | undefined {
    const text = this.#fragments.get(`${id}.xml`)
    if (text === undefined) this.report.add("SP7012", span, `unknown policy fragment \`${id}\``)
    else if (!this.#read.has(id))
      this.#read.set(id, readPolicyDocument(new SourceFile(`${id}.xml`, text), this.report))
    return this.#read.get(id)
  }

  certificate(id: string): string {
    return id
  }

  clientCertificate(id: string): { scheme: "bearer"; token: string } {
    return { scheme: "bearer", token: `certificate ${id}` }
  }

  authorization(
    names: { provider: string; id: string } | undefined,
  ): { scheme: "bearer"; token: string } | undefined {
    return { scheme: "bearer", token: `authorization ${names?.provider ?? "*"} ${names?.id ?? "*"}` }
  }

  hub(id: string): { url: string } | undefined {
    return id === "audit" ? { url: "https://hub.example/audit/messages" } : undefined
  }

  identity(resource: string | null): { scheme: "bearer"; token: string } {
    return { scheme: "bearer", token: `identity ${resource}` }
  }

  declaredIssuers(): { address: string; issuer: string }[] {
    return [{ address: "https://id.example/.well-known/openid-configuration", issuer: "acme" }]
  }

  issuer(source: unknown): string {
    return JSON.stringify(source)
  }

  schema({ id }: { readonly id: string }): string {
    return id
  }

  unjudged(): void {}

  mention(): void {}

  compile({ code, form }: ExpressionSource): Expression | undefined {
    return {
      lang: "cel",
      text: form === "expression" ? code.text.trim() : `{${code.text.trim()}}`,
      type: "cs",
    }
  }
}

/** Steps, each on a line with what is inside of it below. */
export function outline(steps: readonly Used[], host: TestHost, indent = ""): string {
  return steps
    .map(({ id, origin, inside }) => {
      const { kind, ...rest } = host.steps.get(id) as Step
      const own = Object.entries(rest).filter(([key]) => !/^(?:matched|otherwise|steps|branches)$/.test(key))
      const fields = own.map(([key, value]) => `${key}=${shown(value)}`).join(" ")
      const lines = Object.entries(inside).map(([name, list]) =>
        list.length === 0 ? "" : `${indent}  ${name}\n${outline(list, host, `${indent}    `)}`,
      )
      return `${`${indent}${origin} ${kind} ${fields}`.trimEnd()}\n${lines.join("")}`
    })
    .join("")
}

/** Expressions as `@(…)`. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === "object" && each !== null && "lang" in each
      ? each.type === "cs"
        ? `@(${each.text})`
        : `(${each.text})`
      : each,
  )
}
