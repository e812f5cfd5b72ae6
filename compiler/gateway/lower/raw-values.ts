import { type RawPart, rawParts } from "../../../runtime/expression/raw-parts.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { Cel, Text, Word } from "../ast.ts"
import type { Place } from "./place.ts"
import type { StepContext } from "./step.ts"

/** Formats in which a value that is not escaped can end the place it stands in. `seems`: of a text in which each value is a space mark. */
interface Format {
  readonly seems: (text: string, media: string) => boolean
  readonly what: string
  readonly help: string
}

const value = "\ue000"
const formats: readonly Format[] = [
  {
    seems: (_, media) => media.startsWith("application/x-www-form-urlencoded"),
    what: "a form",
    help: "Escape it: `${urlEncode(…)}`.",
  },
  {
    seems: (text) => /<[A-Za-z!?/][^<]*>/.test(text),
    what: "markup",
    help: "Write the body with `xml`, which escapes values, or escape it: `${xmlEscape(…)}`.",
  },
  {
    seems: (text) => /^\s*(?:\{\s*"|\[\s*["{[])/.test(text),
    what: "JSON",
    help: "Write the body with `json`, which escapes values.",
  },
  {
    seems: (text) => /^\s*[\w.[\]-]+=[^\s&=]*(?:&[\w.[\]-]+=[^\s&=]*)+\s*$/.test(text),
    what: "a form",
    help: "Escape it: `${urlEncode(…)}`.",
  },
]

/** Parts of `request` that the gateway makes itself, or lets through only in a form that cannot end any place. */
const safeOfRequest: ReadonlySet<string> = new Set(["method", "id", "ip", "time", "scheme", "host"])

/** Warns of a caller's value that goes as it is into a text that looks like markup, JSON or a form. */
export function warnOfRawValues(
  content: Text | Word | Cel,
  media: string | null,
  { report, place }: StepContext,
): void {
  const parts = partsOf(content, place)
  if (parts === undefined) return
  const text = parts.map((part) => ("literal" in part ? part.literal : value)).join("")
  const format = formats.find(({ seems }) => seems(text, media?.toLowerCase() ?? ""))
  if (format === undefined) return
  for (const part of parts)
    for (const span of "spans" in part ? part.spans : [])
      report.add(
        "SP5022",
        span,
        `\`${shown(span.file.text.slice(span.start, span.end))}\` goes into ${format.what} without being escaped`,
        { help: format.help },
      )
}

type Stretch = { readonly literal: string } | { readonly spans: readonly Span[] }

/** The text in stretches; undefined where it has no expression. */
function partsOf(content: Text | Word | Cel, place: Place): readonly Stretch[] | undefined {
  if (content.kind === "word") return undefined
  if (content.kind === "cel") return ofExpression(content, place)
  if (content.parts.every(({ kind }) => kind === "literal")) return undefined
  return content.parts.flatMap((part) =>
    part.kind === "literal" ? [{ literal: part.value }] : ofExpression(part, place),
  )
}

function ofExpression({ source, span }: { source: string; span: Span }, place: Place): Stretch[] {
  return rawParts(source, place.environment()).map((part: RawPart): Stretch => {
    if ("literal" in part) return part
    const callers = part.raw.filter(({ path }) => isCallers(path))
    return {
      spans: callers.map(({ start, end }) => span.file.span(span.start + start, span.start + end)),
    }
  })
}

function isCallers([first = "", second]: readonly string[]): boolean {
  if (["path", "query", "jwt"].includes(first)) return true
  return first === "request" && !safeOfRequest.has(second ?? "")
}
