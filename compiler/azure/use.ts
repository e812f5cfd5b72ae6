import type { Count, Flag } from "../../runtime/plan/step-values.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import type { Expression, LoadText, Text } from "../../runtime/plan/text.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import {
  attributeOf,
  type Element,
  elementsOf,
  type PolicyDocument,
  type PolicyNode,
  type Raw,
} from "./ast.ts"
import type { Shape, WholeNumbers } from "./shape.ts"
import type { DocumentHost, DocumentPlace, DocumentSection, Used } from "./site.ts"
import { constantOf, type ElementValue, type Reading, readValue, textOf } from "./values.ts"

/** Input for lowering an element whose shape was checked. The getters report wrong values and return undefined. */
export interface Context {
  readonly document: PolicyDocument
  readonly section: DocumentSection
  readonly place: DocumentPlace
  readonly host: DocumentHost
  /** The element of the policy, and its path in the section: `choose[1]/when[2]/set-header[1]`. */
  readonly policy: Element
  readonly path: string
  /** Makes the steps of some policies in an element. */
  readonly inside: (nodes: readonly PolicyNode[], parent: Use) => Used[]
}

/** An element in its context. Reads attributes, texts and children as typed values. */
export class Use {
  readonly element: Element
  readonly context: Context
  readonly #shape: Shape

  /** `shape`: what the table says about the element. */
  constructor(element: Element, shape: Shape, context: Context) {
    this.element = element
    this.#shape = shape
    this.context = context
  }

  /** The element's tag, which is the origin of its steps. */
  get at(): Span {
    return this.element.nameSpan
  }

  step(step: Step, inside: Used["inside"] = {}): Used[] {
    const { host, place, policy } = this.context
    const id = idOf(policy)
    const element = {
      ...{ source: policy.name, scope: place.level, path: this.path },
      ...(id === undefined ? {} : { id }),
    }
    return [{ ...host.step(step, this.at, inside), element }]
  }

  /** The element's path in its section. A part of a policy is numbered among its siblings of the same name. */
  get path(): string {
    const { policy, path } = this.context
    return this.element === policy ? path : `${path}/${numbered(this.element, policy.children)}`
  }

  /** Makes the steps of the policies in the element. */
  policies(): Used[] {
    return this.context.inside(this.element.children, this)
  }

  report(
    code: "SP7008" | "SP7009" | "SP7010" | "SP7011" | "SP7012",
    span: Span,
    detail: string,
    help: string,
  ): undefined {
    this.context.host.report.add(code, span, detail, { help })
  }

  has(name: string): boolean {
    return attributeOf(this.element, name) !== undefined
  }

  spanOf(name: string): Span {
    return attributeOf(this.element, name)?.raw.span ?? this.at
  }

  children(name: string): Use[] {
    return elementsOf(this.element)
      .filter((child) => child.name === name)
      .map((child) => new Use(child, this.#shape.children?.[name] ?? {}, this.context))
  }

  child(name: string): Use | undefined {
    return this.children(name)[0]
  }

  /** The value of an attribute. Undefined when it is absent or wrong. */
  value(name: string, reading: Partial<Reading> = {}): ElementValue | undefined {
    const raw = attributeOf(this.element, name)?.raw
    return raw === undefined ? undefined : this.#read(raw, { exact: true, ...reading })
  }

  /** The element's text as a value. Undefined when it has none. */
  content(reading: Partial<Reading> = {}): ElementValue | undefined {
    const text = this.element.children.find((child) => child.kind === "text")
    return text?.kind === "text" ? this.#read(text.raw, reading) : undefined
  }

  get contentRaw(): Raw | undefined {
    const text = this.element.children.find((child) => child.kind === "text")
    return text?.kind === "text" ? text.raw : undefined
  }

  text(name: string): Text | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : textOf(value, this.context.host)
  }

  /** The element's text. Empty when it has none. */
  ownText(): Text | undefined {
    if (this.contentRaw === undefined) return ""
    const value = this.content()
    return value === undefined ? undefined : textOf(value, this.context.host)
  }

  /** Texts of all children with a name. */
  texts(name: string): Text[] | undefined {
    const texts = this.children(name).map((child) => child.ownText())
    return texts.includes(undefined) ? undefined : (texts as Text[])
  }

  /** A value that must be a constant at compile time. */
  constant(name: string): string | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : this.constantOf(value, `\`${name}\``)
  }

  constantOf(value: ElementValue, what: string): string | undefined {
    const constant = constantOf(value)
    if (constant !== undefined) return constant
    return this.report(
      "SP7010",
      value.span,
      `${what} must be known when the plan is made`,
      "Write a constant, or declare the named value as a constant in gateway.conf.",
    )
  }

  /** Text made of constants and named values. */
  loadText(name: string): LoadText | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    const constant = constantOf(value)
    if (constant !== undefined) return constant
    const isKnown = value.kind === "text" && value.behind === undefined
    if (isKnown && value.parts.every((part) => typeof part === "string" || "value" in part))
      return { text: value.parts as (string | { value: string })[] }
    return this.report(
      "SP7010",
      value.span,
      `\`${name}\` must be known when the plan is loaded`,
      "Use constants and `value`s, without secrets and expressions.",
    )
  }

  /** One of some words. Without the attribute the default of the table, or the first word where the table has none. */
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    if (!this.has(name)) return words.find((word) => word === this.#byDefault(name)) ?? words[0]
    const constant = this.constant(name)
    if (constant === undefined) return undefined
    const found = words.find((word) => word === constant.trim())
    if (found !== undefined) return found
    return this.report(
      "SP7009",
      this.spanOf(name),
      `\`${name}\` cannot be \`${shown(constant)}\``,
      `Write ${words.map((word) => `\`${word}\``).join(", ")}.`,
    )
  }

  /** A required keyword that may be computed per request. */
  anyChoice<const Word extends string>(
    name: string,
    words: readonly Word[],
  ): Word | { expression: Expression } | undefined {
    const value = this.value(name)
    if (value?.kind === "code") return this.#dynamic(value)
    const named = value === undefined ? undefined : soleValue(value)
    if (named !== undefined) return { expression: { lang: "cel", text: named, type: "string" } }
    return this.choice(name, words)
  }

  /** A boolean; the default of the table without the attribute. */
  flag(name: string): Flag | undefined {
    const value = this.value(name)
    if (value === undefined) return this.has(name) ? undefined : this.#byDefault(name) === "true"
    if (value.kind === "code") return this.#dynamic(value)
    const named = soleValue(value)
    if (named !== undefined) return { expression: { lang: "cel", text: `${named} == "true"`, type: "bool" } }
    const constant = this.constantOf(value, `\`${name}\``)
    if (constant === undefined) return undefined
    if (/^(?:true|false)$/i.test(constant)) return /^true$/i.test(constant)
    return this.report(
      "SP7009",
      value.span,
      `\`${name}\` cannot be \`${shown(constant)}\``,
      "Write `true` or `false`.",
    )
  }

  /** A boolean that must be known at compile time. */
  fixedFlag(name: string): boolean | undefined {
    const flag = this.flag(name)
    if (typeof flag !== "object") return flag
    return this.report(
      "SP7010",
      this.spanOf(name),
      `\`${name}\` must be known when the plan is made`,
      "Write `true` or `false`.",
    )
  }

  /** A number that may be computed per request, within the bounds of the table or narrower ones. */
  count(name: string, bounds = this.#whole(name)): Count | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind === "code") return this.#dynamic(value)
    const named = soleValue(value)
    if (named === undefined) return this.#number(name, value, bounds)
    return { expression: { lang: "cel", text: `int(${named})`, type: "int" } }
  }

  /** A number that must be known at compile time. */
  number(name: string): number | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : this.#number(name, value, this.#whole(name))
  }

  #number(name: string, value: ElementValue, { min, max }: WholeNumbers): number | undefined {
    const constant = this.constantOf(value, `\`${name}\``)?.trim()
    if (constant === undefined) return undefined
    const number = /^\d{1,15}$/.test(constant) ? Number(constant) : Number.NaN
    if (number >= min && number <= max) return number
    return this.report(
      "SP7009",
      value.span,
      `\`${name}\` cannot be \`${shown(constant)}\``,
      `Write a whole number from ${min} to ${max}.`,
    )
  }

  /** The expression of an attribute. A literal is converted to an expression. */
  condition(name: string): Expression | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind === "code") return this.context.host.compile(value.code)
    const constant = this.constantOf(value, `\`${name}\``)
    if (constant === undefined) return undefined
    if (/^(?:true|false)$/i.test(constant)) return { lang: "cel", text: constant.toLowerCase(), type: "bool" }
    return this.report(
      "SP7009",
      value.span,
      `\`${name}\` is not a condition`,
      'Write an expression: `@(context.Request.Method == "GET")`.',
    )
  }

  /** The bounds that the table has, so that editors show those that are checked. */
  #whole(name: string): WholeNumbers {
    const whole = this.#shape.attributes?.[name]?.whole
    if (whole === undefined) throw new Error(`the row of \`${name}\` has no bounds`)
    return whole
  }

  #byDefault(name: string): string | undefined {
    return this.#shape.attributes?.[name]?.byDefault
  }

  #dynamic(value: ElementValue): { expression: Expression } | undefined {
    const expression = value.kind === "code" ? this.context.host.compile(value.code) : undefined
    return expression === undefined ? undefined : { expression }
  }

  #read(raw: Raw, reading: Partial<Reading>): ElementValue | undefined {
    const { document, section, host } = this.context
    return readValue(raw, document, { section, ...reading }, host)
  }
}

function idOf(element: Element): string | undefined {
  const raw = attributeOf(element, "id")?.raw
  return raw?.span.file.text.slice(raw.span.start, raw.span.end).trim()
}

/** `when[2]`: the second `when` among its siblings. `otherwise` has no number, because it occurs only once. */
export function numbered(element: Element, beside: readonly PolicyNode[]): string {
  const same = beside.filter((node) => node.kind === "element" && node.name === element.name)
  return element.name === "otherwise" ? element.name : `${element.name}[${same.indexOf(element) + 1}]`
}

/** The named value that makes up the whole text. It is known when the plan is loaded. */
function soleValue(value: ElementValue): string | undefined {
  const [part, ...more] = value.kind === "text" && value.behind === undefined ? value.parts : []
  return typeof part === "object" && "value" in part && more.length === 0 ? part.value : undefined
}
