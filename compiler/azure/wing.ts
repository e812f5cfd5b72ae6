import { compileTemplate, TemplateProblem } from "../../runtime/azure/liquid/compile-template.ts"
import { type CompiledCsharp, compileCsharp } from "./csharp/compile-csharp.ts"
import { everyStep, lowerDocument, lowerOnError } from "./lower-document.ts"
import { lowerSection } from "./lower-section.ts"
import { touched, wayAround } from "./prove.ts"
import { readPolicyDocument } from "./reader/read-document.ts"
import { type DocumentHost, type ExpressionSource, sections } from "./site.ts"
import { declaredAs } from "./values.ts"

/**
 * Everything that the compiler calls in this wing. It is loaded with `import()` only for a project that has policy documents or templates: it
 * is a quarter of the compiler, and most projects have neither.
 */
export const azure = {
  sections,
  readPolicyDocument,
  lowerDocument,
  lowerOnError,
  lowerSection,
  everyStep,
  compileCode,
  declaredAs,
  wayAround,
  touched,
  templateProblem,
}

/** The wing as the parameter type of `compile`. Types of documents and their places are in `ast.ts` and `site.ts`. */
export type AzureCompiler = typeof azure

/** The first mistake in a Liquid template and its offset. Undefined when the template is correct. */
function templateProblem(source: string): { readonly offset: number; readonly message: string } | undefined {
  try {
    compileTemplate(source)
    return undefined
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error
    return { offset: error.offset, message: error.message }
  }
}

/** Compiles an expression of a document together with its named values. Reports mistakes at their places and returns undefined. */
function compileCode(
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
