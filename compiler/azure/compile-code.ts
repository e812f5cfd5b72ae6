import { type CompiledCsharp, compileCsharp } from "./csharp/compile-csharp.ts"
import type { DocumentHost, ExpressionSource } from "./site.ts"

/** Compiles an expression of a document with the named values around it. Undefined after what is wrong was reported at its place. */
export function compileCode(
  { code, form, section }: ExpressionSource,
  around: Pick<DocumentHost, "named" | "report">,
): CompiledCsharp | undefined {
  const source = { text: code.text, at: (offset: number) => code.span(offset, offset).start }
  const compiled = compileCsharp(source, form === "expression" ? "expression" : "block", {
    section,
    namedValue: (name) => around.named(name),
  })
  if (!("findings" in compiled)) return compiled
  for (const { start, end, message, help } of compiled.findings)
    around.report.add("SP7017", code.file.span(start, end), message, { help })
  return undefined
}
