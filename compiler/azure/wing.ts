import { compileTemplate, TemplateProblem } from "../../runtime/azure/liquid/compile-template.ts"
import { compileCode } from "./compile-code.ts"
import { everyStep, lowerDocument, lowerOnError } from "./lower-document.ts"
import { touched, wayAround } from "./prove.ts"
import { readPolicyDocument } from "./reader/read-document.ts"
import { sections } from "./site.ts"
import { declaredAs } from "./values.ts"

/**
 * Everything the compiler calls of this wing. It is loaded by `import()`, and only for a project that has policy documents or
 * templates: it is a quarter of the compiler, and most projects have neither.
 */
export const azure = {
  sections,
  readPolicyDocument,
  lowerDocument,
  lowerOnError,
  everyStep,
  compileCode,
  declaredAs,
  wayAround,
  touched,
  templateProblem,
}

/** The wing as `compile` takes it. Types of documents and their places are in `ast.ts` and `site.ts`. */
export type AzureCompiler = typeof azure

/** What is wrong with a Liquid template, and at which offset; undefined when nothing is. */
function templateProblem(source: string): { readonly offset: number; readonly message: string } | undefined {
  try {
    compileTemplate(source)
    return undefined
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error
    return { offset: error.offset, message: error.message }
  }
}
