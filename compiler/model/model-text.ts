import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { Report } from "../core/diagnostic.ts"
import { SourceFile } from "../core/source.ts"
import { compileModel } from "./compile-model.ts"
import { printModel } from "./print-model.ts"

/** One thing wrong with a text; lines and columns count from 1. */
export interface TextProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/**
 * The text language for those who know only JSON: the authorization API is given this, so that the runtime needs no parser.
 * `read` compiles one file's text, with the rules of the language (warnings are no problems); `print` is its inverse, or says what
 * the language has no words for.
 */
export const modelText = {
  read(text: string): { readonly model: AuthorizationModel } | { readonly problems: readonly TextProblem[] } {
    const report = new Report()
    const file = new SourceFile("model.fga", text)
    const compiled = compileModel(file, report)
    if (compiled !== undefined) return { model: compiled.model }
    const errors = report.sorted().filter(({ severity }) => severity === "error")
    const problems = errors.map(({ title, detail, span }) => {
      return { ...file.position(span?.start ?? 0), message: `${title}: ${detail}` }
    })
    return { problems }
  },

  print(model: AuthorizationModel): { readonly text: string } | { readonly problem: string } {
    return printModel(model)
  },
}
