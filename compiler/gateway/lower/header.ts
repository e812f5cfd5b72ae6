import { connectionFields } from "../../../runtime/plan/http-syntax.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { TextArgument, Word } from "../ast.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { StatementPlace } from "./place.ts"
import type { TextUse } from "./text.ts"

const valueMax = 8192
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
const notInHeader = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/

/** How texts are used as header values. */
export function headerUse(secrets: boolean): TextUse {
  return {
    secrets,
    constant(value, report, at) {
      const bad = value.search(notInHeader)
      if (bad >= 0) {
        const code = value.charCodeAt(bad)
        const what =
          code === 10 || code === 13
            ? "a line break"
            : `the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`
        report.add("SP2028", at(bad), `the value contains ${what}`)
      } else if (value.length > valueMax) {
        report.add("SP2028", at(0), `the value has more than ${valueMax} characters`, { help: "Shorten it." })
      }
    },
  }
}

/** Whether policies may write this header. Reports it if not. */
export function mayWrite(name: string, span: Span, message: "request" | "response", report: Report): boolean {
  if (name === "host" && message === "request") {
    report.add("SP2034", span, "the Host header is set by the gateway", {
      help: 'Use `forward-host preserve` or `forward-host "…"`.',
    })
    return false
  }
  if (!connectionFields.has(name)) return true
  report.add("SP2034", span, `\`${name}\` belongs to the connection`, { help: "Remove the statement." })
  return false
}

/** The message that statements of a section change. */
export function messageAt({ section }: StatementPlace): "request" | "response" {
  return section === "inbound" ? "request" : "response"
}

/** The texts of a slot with several values; undefined when one of them is invalid (reported). */
export function lowerAll(
  bound: BoundStatement,
  slot: string,
  lower: (argument: TextArgument | Word) => Text | undefined,
): Text[] | undefined {
  const texts: Text[] = []
  for (const { argument } of bound.args.all(slot)) {
    if (argument.kind !== "word" && argument.kind !== "text") continue
    const text = lower(argument)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

/** Reports a statement that depends on a header which the gateway removes from every request. */
export function reportDropped(name: string | null | undefined, at: Span, report: Report): void {
  if (name?.includes("_")) report.add("SP3042", at, `fields like \`${name}\` are dropped from requests`)
}
