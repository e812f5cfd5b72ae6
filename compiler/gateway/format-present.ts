import { Report } from "../core/diagnostic.ts"
import { fixedFiles } from "../core/fixes.ts"
import { SourceFile } from "../core/source.ts"
import type { Document } from "./ast.ts"
import { bind } from "./bind.ts"
import { formatGateway } from "./format.ts"
import { parseGateway } from "./parser.ts"

/** The text of a file as `sallyport fmt` writes it: formatted, in the present spelling of the language. The file must have no mistake of syntax. */
export function formatPresent(document: Document): string {
  return formatGateway(inPresentSpelling(document))
}

/** The document with the fixes of SP2043. Nothing else of its findings is fixed: a formatter must not change what a file means. */
function inPresentSpelling(document: Document): Document {
  const report = new Report()
  bind([document], report)
  const [fixed] = fixedFiles(report.sorted().filter(({ code }) => code === "SP2043"))
  if (fixed === undefined) return document
  return parseGateway(new SourceFile(document.file.path, fixed.after), new Report())
}
