import type {
  DeskReply,
  DeskRequest,
  ModelReading,
} from "../../runtime/control/console/page/parts/model-desk.ts"
import { Report } from "../core/diagnostic.ts"
import { SourceFile } from "../core/source.ts"
import { compileModel } from "../model/compile-model.ts"
import { compareModels } from "../model-compare/comparison.ts"
import { WritingHelp } from "./writing-help.ts"

const help = new WritingHelp()

/** What the console's page Model asks of the compiler. */
export async function deskReply(asked: DeskRequest): Promise<DeskReply> {
  if (asked.kind === "read") return { kind: "read", reading: readingOf(asked.path, asked.text) }
  if (asked.kind === "compare")
    return { kind: "compare", differences: await compareModels(asked.before, asked.after) }
  const { kind, path, text, offset } = asked
  // The text is the whole project.
  help.open({ [path]: text })
  if (kind === "hover") return { kind, hover: await help.hover(path, text, offset) }
  return { kind, items: await help.complete(path, text, offset) }
}

function readingOf(path: string, text: string): ModelReading {
  const report = new Report()
  const file = new SourceFile(path, text)
  const compiled = compileModel(file, report)
  const places: Record<string, number> = {}
  for (const [type, { span, relations }] of compiled?.types ?? []) {
    places[type] = span.start
    for (const [relation, { start }] of relations) places[`${type}#${relation}`] = start
  }
  const findings = report.sorted().map(({ severity, title, detail, help, span }) => ({
    ...{ start: span?.start ?? 0, end: span?.end ?? 0, severity },
    line: file.position(span?.start ?? 0).line,
    message: `${title}: ${detail}${help === undefined ? "" : `\n${help}`}`,
  }))
  return { model: compiled?.model, findings, places }
}
