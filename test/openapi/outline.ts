import type { ApiDocument, Example, Operation } from "../../compiler/openapi/api-document.ts"

/** What was read of a document, in few lines. Schemas written where they are used stand in place, others by their names. */
export function outlineOf(document: ApiDocument | undefined): string {
  if (document === undefined) return "not a document"
  const shown = (key: string | undefined): string => {
    const entry = key === undefined ? undefined : document.schemas.entries.get(key)
    if (entry === undefined) return "-"
    return JSON.stringify(entry.json, (name, value) =>
      name === "$ref" && typeof value === "string" ? short(value) : value,
    )
  }
  const schema = (key: string | undefined): string =>
    key?.includes("#") && !key.includes("@") ? short(key) : shown(key)
  const lines = [`${document.version} ${document.title} ${document.release}`]
  for (const { url } of document.servers) lines.push(`server ${url}`)
  for (const { name, kind } of document.securitySchemes.values()) lines.push(`scheme ${name} ${kind}`)
  for (const operation of document.operations) lines.push(...linesOf(operation, schema))
  for (const { key } of [...document.schemas.entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1)))
    if (!key.includes("@")) lines.push(`schema ${short(key)} ${shown(key)}`)
  return lines.join("\n")
}

function linesOf(operation: Operation, schema: (key: string | undefined) => string): string[] {
  const { method, path, template, id, span, security } = operation
  const line = span.file.position(span.start).line
  const lines = [`${method} ${path ?? `(${template})`} ${id ?? "-"} ${span.file.path}:${line}`]
  for (const each of operation.parameters) {
    const flags = `${each.required ? "!" : ""} ${each.style}${each.explode ? "*" : ""}${each.allowEmpty ? " or empty" : ""}`
    lines.push(`  ${each.in} ${each.name}${flags} ${schema(each.schema)}`, ...exampleLines(each.examples))
  }
  for (const each of operation.body?.contents ?? []) {
    lines.push(`  body${operation.body?.required === true ? "!" : ""} ${each.media} ${schema(each.schema)}`)
    for (const { name, style, explode: spread, media } of each.fields)
      lines.push(`    field ${name} ${style}${spread ? "*" : ""} ${media.join(", ")}`.trimEnd())
    lines.push(...exampleLines(each.examples))
  }
  for (const response of operation.responses) {
    const contents = response.contents.map((each) => `${each.media} ${schema(each.schema)}`)
    lines.push(`  ${response.status} ${contents.join(", ")}`.trimEnd())
    lines.push(...response.contents.flatMap((each) => exampleLines(each.examples)))
    for (const header of response.headers) lines.push(`    header ${header.name} ${schema(header.schema)}`)
  }
  if (security !== undefined) {
    const ways = security.map((way) =>
      way.schemes.map(({ name, scopes }) => [name, ...scopes].join(" ")).join(" and "),
    )
    lines.push(`  security ${ways.map((way) => (way === "" ? "none" : way)).join(" or ")}`.trimEnd())
  }
  return lines
}

/** Those with a name. */
function exampleLines(examples: readonly Example[]): string[] {
  return examples.flatMap(({ name, summary, description, value }) =>
    name === undefined
      ? []
      : [`    example ${[name, summary, description].filter(Boolean).join(", ")} ${JSON.stringify(value)}`],
  )
}

function short(key: string): string {
  return key.replace(/@.*/, "@").replace(/^.*#\/(?:components\/schemas\/|definitions\/)?/, "#")
}
