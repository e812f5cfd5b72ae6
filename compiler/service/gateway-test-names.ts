import { Report } from "../core/diagnostic.ts"
import { type SourceFile, type Span, textOf } from "../core/source.ts"
import type { DeclarationKind } from "../gateway/schema/row.ts"
import { YamlReader, type YamlValue } from "../model-test/yaml-reader.ts"

/** A name of gateway.conf in a file of gateway tests. `span`: undefined if it has escapes. */
export interface GatewayName {
  readonly kind: DeclarationKind
  readonly text: string
  readonly span: Span | undefined
}

/** Keys whose values are data of the tests and not names. */
const dataKeys: ReadonlySet<string> = new Set(
  "body certificate check env headers json login logout request token".split(" "),
)
const namingKeys: Readonly<Record<string, DeclarationKind>> = {
  ...{ api: "api", issuer: "issuer", product: "product", secret: "secret", signature: "secret" },
  ...{ store: "store", subscription: "subscription" },
}

/** The names of gateway.conf in a file of gateway tests, wherever a key says what is named. */
export function gatewayNamesOf(file: SourceFile): readonly GatewayName[] {
  const reader = new YamlReader(file, new Report())
  const found: GatewayName[] = []
  const add = (kind: DeclarationKind, text: string | undefined, span: Span): void => {
    // An alias: the name is where its anchor is.
    if (text === undefined || textOf(span).startsWith("*")) return
    const quote = /^["']/.test(textOf(span)) ? 1 : 0
    const inner = file.span(span.start + quote, span.end - quote)
    found.push({ kind, text, span: textOf(inner) === text ? inner : undefined })
  }
  const addKeys = (kind: DeclarationKind, value: YamlValue): void => {
    if (!reader.isList(value))
      for (const { name, key } of reader.entries(value, "") ?? []) add(kind, name, key)
  }
  const visit = (value: YamlValue): void => {
    if (reader.isList(value)) for (const item of reader.list(value, "")) visit(item)
    else for (const { name, value: inner } of reader.entries(value, "") ?? []) visitEntry(name, inner)
  }
  const visitEntry = (name: string, value: YamlValue): void => {
    const kind = Object.hasOwn(namingKeys, name) ? namingKeys[name] : undefined
    const text = kind === undefined ? undefined : reader.text(value, "")
    if (kind !== undefined && text !== undefined) add(kind, text, value.span)
    else if (name === "backends") addKeys("backend", value)
    else if (name === "tuples") addKeys("store", value)
    else if (name === "issuers-down")
      for (const each of reader.list(value, "")) add("issuer", reader.text(each, ""), each.span)
    else if (!dataKeys.has(name)) visit(value)
  }
  reader.eachDocument(visit)
  return found
}
