import type { Report } from "../core/diagnostic.ts"
import { didYouMean, nearest } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import { type Element, elementsOf, type PolicyDocument } from "./ast.ts"
import { elementWith, refusalOfAttribute } from "./elements/refused.ts"
import { beginsExpression, expressionEnd } from "./reader/expression-scan.ts"

/** The whole numbers from `min` to `max`, both included. */
export interface WholeNumbers {
  readonly min: number
  readonly max: number
}

/** The allowed values of an attribute. */
export interface AttributeRow {
  readonly required?: true
  /** An expression is allowed. Otherwise the value must be known at compile time. */
  readonly dynamic?: true
  /** The valid values. */
  readonly values?: readonly string[]
  /** It is a whole number within these bounds. */
  readonly whole?: WholeNumbers
  /** It is `true` or `false`, in any case of letters. */
  readonly flag?: true
  /** What holds without the attribute. */
  readonly byDefault?: string
}

/** The allowed content of an element, as data instead of code. */
export interface Shape {
  readonly attributes?: Readonly<Record<string, AttributeRow>>
  readonly children?: Readonly<Record<string, ChildRow>>
  /** The element has text: a literal, a value that may be an expression, or with `body` any content. */
  readonly text?: "literal" | "value" | "body"
  /** The element contains policies instead of its own child elements. */
  readonly policies?: true
}

export interface ChildRow extends Shape {
  readonly required?: true
  readonly many?: true
}

/** Attributes that every policy may have. `id` names the policy in errors. */
const common: Readonly<Record<string, AttributeRow>> = { id: {} }

/** Whether an element matches its shape. Deviations are reported (SP7006 to SP7010). */
export function fits(element: Element, shape: Shape, document: PolicyDocument, report: Report): boolean {
  const before = report.errors
  checkAttributes(element, shape, document, report)
  checkText(element, shape, report)
  if (shape.policies !== true) checkChildren(element, shape, document, report)
  return report.errors === before
}

/** Whether it declares an XML prefix. Such declarations are ignored, because tools leave them in documents. */
export function declaresPrefix(attribute: string): boolean {
  return /^xmlns(?::|$)/.test(attribute)
}

function checkAttributes(
  element: Element,
  { attributes = {} }: Shape,
  document: PolicyDocument,
  report: Report,
): void {
  for (const { name, nameSpan, raw } of element.attributes) {
    if (declaresPrefix(name)) continue
    const row = attributes[name] ?? common[name]
    const refusal = row === undefined ? refusalOfAttribute(element.name, name) : undefined
    if (refusal !== undefined)
      report.add("SP7011", nameSpan, `\`${name}\` is not supported: ${refusal.why}`, {
        help: refusal.instead,
      })
    else if (row === undefined) {
      const known = Object.keys(attributes)
      const other = elementWith(element.name, name)
      const help =
        other !== undefined
          ? `Write \`${other}\`, which has it.`
          : known.length === 0
            ? "Remove it: the element has no attributes."
            : `It has ${listed(known)}.`
      const near = didYouMean(name, known)
      report.add("SP7007", nameSpan, `\`${element.name}\` has no attribute \`${shown(name)}\`${near}`, {
        help,
      })
    } else if ((raw.inner ?? raw.hole) !== undefined && row.dynamic !== true) {
      const help = row.values === undefined ? {} : { help: `Write ${listed(row.values, "or")}.` }
      report.add(
        "SP7010",
        raw.span,
        `\`${name}\` of \`${element.name}\` must be known when the plan is made`,
        help,
      )
    } else if (raw.inner === undefined && raw.hole === undefined && row.values !== undefined) {
      const text = element.attributes.find((each) => each.name === name)?.raw.span
      const value = text === undefined ? "" : text.file.text.slice(text.start, text.end).trim()
      if (!row.values.includes(value) && !/^\{\{.*\}\}$/.test(value))
        report.add(
          "SP7009",
          raw.span,
          `\`${name}\` cannot be \`${shown(value)}\`${didYouMean(value, row.values)}`,
          {
            help: `Write ${listed(row.values, "or")}.`,
          },
        )
    }
  }
  if (!document.damaged) reportMissing(element, attributes, report)
}

/** A misspelt attribute is not missing, too. */
function reportMissing(
  element: Element,
  attributes: Readonly<Record<string, AttributeRow>>,
  report: Report,
): void {
  const known = Object.keys(attributes)
  const meant = element.attributes.map((each) =>
    attributes[each.name] ? each.name : nearest(each.name, known),
  )
  for (const [name, row] of Object.entries(attributes))
    if (row.required === true && !meant.includes(name))
      report.add("SP7008", element.nameSpan, `\`${element.name}\` has no \`${name}\``, {
        help: `Add \`${name}="…"\`.`,
      })
}

function checkText(element: Element, { text, policies }: Shape, report: Report): void {
  for (const child of element.children) {
    if (child.kind !== "text") continue
    const { raw } = child
    if (text === undefined) {
      const help =
        policies === true
          ? "Remove it; an expression belongs in an attribute or in an element such as `<value>`."
          : "Remove it."
      report.add("SP7006", raw.span, `\`${element.name}\` cannot contain text`, { help })
    } else if (text === "literal" && (raw.inner ?? raw.hole) !== undefined)
      report.add("SP7010", raw.span, `\`${element.name}\` must be known when the plan is made`)
    else if (
      text !== "body" &&
      raw.inner === undefined &&
      raw.hole === undefined &&
      holdsExpression(raw.span.file.text.slice(raw.span.start, raw.span.end))
    )
      report.add("SP7004", raw.span, "there is other text beside the expression", {
        help: 'Move the other text into the expression, e.g. `@($"before{…}after")`.',
      })
  }
}

function holdsExpression(text: string): boolean {
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1))
    // One without an end is already reported.
    if (beginsExpression(text, at)) return "end" in expressionEnd(text, at)
  return false
}

function checkChildren(
  element: Element,
  { attributes = {}, children = {} }: Shape,
  document: PolicyDocument,
  report: Report,
): void {
  const first = new Map<string, Element>()
  for (const child of elementsOf(element)) {
    const row = children[child.name]
    if (row === undefined) {
      const known = Object.keys(children)
      const isAttribute = Object.hasOwn(attributes, child.name)
      const near = isAttribute ? ": it is an attribute" : didYouMean(child.name, known)
      report.add(
        "SP7006",
        child.nameSpan,
        `\`${element.name}\` cannot contain \`${shown(child.name)}\`${near}`,
        {
          help: isAttribute
            ? `Write \`<${element.name} ${child.name}="…">\`.`
            : known.length === 0
              ? "Remove it."
              : `It can contain ${listed(known.map((name) => `<${name}>`))}.`,
        },
      )
      continue
    }
    const earlier = first.get(child.name)
    if (earlier !== undefined && row.many !== true)
      report.add("SP7006", child.nameSpan, `\`${child.name}\` is given twice`, {
        help: "Keep one of the two.",
        related: [{ span: earlier.nameSpan, message: "the first" }],
      })
    else first.set(child.name, child)
    fits(child, row, document, report)
  }
  if (document.damaged) return
  for (const [name, row] of Object.entries(children))
    if (row.required === true && !first.has(name))
      report.add("SP7008", element.nameSpan, `\`${element.name}\` has no \`<${name}>\``, {
        help: `Add \`<${name}>…</${name}>\`.`,
      })
}

/** A list in words: `` `a`, `b` and `c` ``. */
export function listed(words: readonly string[], conjunction: "and" | "or" = "and"): string {
  const marked = words.map((word) => `\`${word}\``)
  return marked.length < 2
    ? (marked[0] ?? "")
    : `${marked.slice(0, -1).join(", ")} ${conjunction} ${marked.at(-1)}`
}
