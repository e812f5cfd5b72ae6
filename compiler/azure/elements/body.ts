import { compileTemplate, TemplateProblem } from "../../../runtime/azure/liquid/compile-template.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import { beginsExpression, expressionEnd } from "../reader/expression-scan.ts"
import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { type ElementValue, textOf } from "../values.ts"
import { messageOf } from "./message.ts"
import {
  complete,
  type ElementTable,
  everywhere,
  fixedFlags,
  given,
  optional,
  required,
  requiredDynamic,
} from "./row.ts"

type Body = Extract<Step, { kind: "set-body" }>["content"]

export const bodyChild: ChildRow = {
  attributes: {
    template: { values: ["liquid", "none"], byDefault: "none" },
    "xsi-nil": { values: ["blank", "null"] },
    "parse-date": fixedFlags.on,
  },
  children: { value: { text: "body" } },
  text: "body",
}

/** The content of a body. Some documents put the expression into a `<value>` inside it. */
export function bodyOf(use: Use): Body | undefined {
  const holder = use.child("value") ?? use
  // Elements without attributes, e.g. `payload`, have no default in the table.
  const template = use.choice("template", ["none", "liquid"])
  const value = holder.content({ lenient: true })
  if (use.fixedFlag("parse-date") === undefined || template === undefined) return undefined
  // An element without content means an empty body, not that the body stays.
  if (value === undefined) return holder.contentRaw === undefined ? { text: "" } : undefined
  if (template === "liquid") {
    const liquid = templateOf(holder, value)
    const xsiNil = use.has("xsi-nil") ? use.choice("xsi-nil", ["blank", "null"]) : undefined
    return liquid === undefined ? undefined : { liquid, ...given("xsiNil", xsiNil) }
  }
  // An expression that is alone keeps its type: an object becomes JSON.
  if (value.kind === "code") {
    const expression = use.context.host.compile(value.code)
    return expression === undefined ? undefined : { value: expression }
  }
  const text = textOf(value, use.context.host)
  if (text !== undefined) tellOfExpressions(value, use)
  return text === undefined ? undefined : { text }
}

/** Warns that `@(…)` inside a body is plain text (SP7020), because the author probably meant an expression. Only the first is reported. */
function tellOfExpressions({ span: { file, start, end } }: ElementValue, use: Use): void {
  const text = file.text.slice(0, end)
  for (let at = text.indexOf("@", start); at >= 0; at = text.indexOf("@", at + 1)) {
    const found = beginsExpression(text, at) ? expressionEnd(text, at) : undefined
    if (found === undefined || !("end" in found)) continue
    const span = file.span(at, found.end)
    use.context.host.report.add(
      "SP7020",
      span,
      "an expression inside other text of a body is not evaluated",
      {},
    )
    return
  }
}

/** A Liquid template without mistakes. Undefined when it has one (reported at its place in the document). */
function templateOf(holder: Use, value: ElementValue): string | undefined {
  const template = holder.constantOf(value, "a template")
  if (template === undefined) return undefined
  try {
    compileTemplate(template)
    return template
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error
    const { file, start, end } = value.span
    // Named values and entities may have shifted the text after them, so the tag is searched in the source text.
    const tag = /^(?:\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/.exec(template.slice(error.offset))?.[0] ?? ""
    const at = tag === "" ? -1 : file.text.slice(start, end).indexOf(tag)
    const span = at === -1 ? value.span : file.span(start + at, start + at + tag.length)
    return holder.report(
      "SP7009",
      span,
      `the template is invalid: ${error.message}`,
      "Correct the template, or write an expression.",
    )
  }
}

function setBody(use: Use): Used[] | undefined {
  const content = bodyOf(use)
  if (content === undefined) return undefined
  return use.step({ kind: "set-body", message: messageOf(use.context.section), media: null, content })
}

function findAndReplace(use: Use): Used[] | undefined {
  const parts = { from: use.text("from"), to: use.text("to") }
  return complete(parts)
    ? use.step({ kind: "find-replace", message: messageOf(use.context.section), ...parts })
    : undefined
}

/** As in APIM without headers, not even Location. */
function redirectContentUrls(use: Use): Used[] {
  return use.step({ kind: "mask-urls", message: messageOf(use.context.section), headers: false })
}

function jsonp(use: Use): Used[] | undefined {
  const callback = use.text("callback-parameter-name")
  return callback === undefined ? undefined : use.step({ kind: "jsonp", callback })
}

function xmlToJson(use: Use): Used[] | undefined {
  // APIM's default. gateway.conf has the safer one, which converts only XML.
  const apply = use.choice("apply", ["always", "content-type-xml"])
  const parts = {
    style: use.choice("kind", ["direct", "javascript-friendly"]),
    considerAccept: use.fixedFlag("consider-accept-header"),
    alwaysArray: use.fixedFlag("always-array-child-elements"),
  }
  if (!complete(parts) || apply === undefined) return undefined
  const message = messageOf(use.context.section)
  return use.step({
    kind: "xml-to-json",
    message,
    apply: apply === "always" ? apply : "content-type",
    ...parts,
  })
}

/** `json-to-xml`. The separator replaces the `:` of prefixes. */
function jsonToXml(use: Use): Used[] | undefined {
  const apply = use.choice("apply", ["always", "content-type-json"])
  const parts = {
    considerAccept: use.fixedFlag("consider-accept-header"),
    parseDates: use.fixedFlag("parse-date"),
    namespaceSeparator: use.has("namespace-separator") ? use.constant("namespace-separator") : "_",
  }
  if (!complete(parts) || apply === undefined) return undefined
  if (parts.namespaceSeparator.length !== 1)
    return use.report(
      "SP7009",
      use.spanOf("namespace-separator"),
      "the separator must be exactly one character",
      "Write e.g. `_`.",
    )
  return use.step({
    kind: "json-to-xml",
    message: messageOf(use.context.section),
    apply: apply === "always" ? apply : "content-type",
    ...parts,
    ...given("namespacePrefix", use.constant("namespace-prefix")),
    ...given("attributeBlock", use.constant("attribute-block-name")),
  })
}

export const body: ElementTable = {
  "set-body": {
    ...bodyChild,
    about: "Replaces the body of the message by a text, an expression or a Liquid template.",
    sections: everywhere,
    lower: setBody,
  },
  "find-and-replace": {
    about: "Replaces a text in the body of the message.",
    sections: everywhere,
    attributes: { from: requiredDynamic, to: requiredDynamic },
    lower: findAndReplace,
  },
  "redirect-content-urls": {
    about: "Replaces the address of the backend in the body by that of the gateway.",
    sections: ["inbound", "outbound"],
    lower: redirectContentUrls,
  },
  jsonp: {
    about: "Wraps a JSON response into the function that the query names.",
    sections: ["outbound"],
    attributes: { "callback-parameter-name": requiredDynamic },
    lower: jsonp,
  },
  "xml-to-json": {
    about: "Converts the body from XML to JSON.",
    sections: ["inbound", "outbound", "on-error"],
    attributes: {
      kind: { ...required, values: ["direct", "javascript-friendly"] },
      apply: { ...required, values: ["always", "content-type-xml"] },
      "consider-accept-header": fixedFlags.on,
      "always-array-child-elements": fixedFlags.off,
    },
    lower: xmlToJson,
  },
  "json-to-xml": {
    about: "Converts the body from JSON to XML.",
    sections: ["inbound", "outbound", "on-error"],
    attributes: {
      apply: { ...required, values: ["always", "content-type-json"] },
      "consider-accept-header": fixedFlags.on,
      "parse-date": fixedFlags.on,
      "namespace-separator": optional,
      "namespace-prefix": optional,
      "attribute-block-name": optional,
    },
    lower: jsonToXml,
  },
}
