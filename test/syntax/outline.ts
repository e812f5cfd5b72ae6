import { unseen } from "../../compiler/core/shown.ts"
import type { Argument, Document, Statement, TextArgumentPart } from "../../compiler/gateway/ast.ts"

/** A document as an indented list, one statement a line: what was understood, without places. `!` marks a broken statement. */
export function outline(document: Document): string {
  return document.statements.map((statement) => outlineOf(statement, "  ")).join("")
}

function outlineOf(statement: Statement, indent: string): string {
  const head = [statement.keyword.text, ...statement.args.map(argumentOf)].join(" ")
  let text = `${indent}${head}${statement.broken ? " !" : ""}\n`
  for (const inner of statement.block?.statements ?? []) text += outlineOf(inner, `${indent}  `)
  const { otherwise } = statement
  if (otherwise === undefined) return text
  text += `${indent}else\n`
  if (otherwise.when !== undefined) text += outlineOf(otherwise.when, `${indent}  `)
  for (const inner of otherwise.block?.statements ?? []) text += outlineOf(inner, `${indent}  `)
  return text
}

function argumentOf(argument: Argument): string {
  switch (argument.kind) {
    case "word":
      return argument.text
    case "equals":
      return "="
    case "cel":
      return `(${quote(argument.source)})`
    case "call":
      return `${argument.name.text}<${argument.args.map(argumentOf).join(" ")}>`
    case "text":
      return `${argument.form}[${argument.parts.map(partOf).join(" ")}]`
  }
}

function partOf(part: TextArgumentPart): string {
  return part.kind === "cel" ? `\${${quote(part.source)}}` : quote(part.value)
}

/** JSON, with what nobody could see in a case escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    unseen("g"),
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

/** A document's meaning: everything but places, comments and how a block was laid out; CR LF counts as LF. */
export function meaningOf(document: Document): unknown {
  return JSON.parse(
    JSON.stringify(document.statements, (key, value: unknown) => {
      if (key === "span" || key === "open" || key === "close") return undefined
      if (key === "keyword" && typeof value === "object" && value !== null && "file" in value)
        return undefined
      return typeof value === "string" ? value.replaceAll("\r\n", "\n") : value
    }),
  )
}
