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
 * The text language for code that only knows JSON: the authorization API receives this object, so that the runtime needs no parser. `read`
 * compiles the text of one file by the rules of the language (warnings are not problems). `print` is its inverse, or returns what the language
 * cannot express.
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
