import { type RawPart, rawParts } from "../../../runtime/expression/reads.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { CelArgument, TextArgument, Word } from "../ast.ts"
import type { StatementPlace } from "./place.ts"
import type { StepContext } from "./step.ts"

/** A format in which an unescaped value can end the syntax element that contains it. */
interface Format {
  readonly what: string
  readonly help: string
  /** The media types of the format. */
  readonly media?: RegExp
  /** Matches a text that looks like the format. Each value in the text is replaced by `\ue000`. */
  readonly text?: RegExp
  /** Like `text`, for a body with the media type of the original message. It is too weak for a body that is a text of its own. */
  readonly textAsIs?: RegExp
}

const value = "\ue000"
const formEscape = "Escape it: `${urlEncode(…)}`."
const field = "[^\\s&=<>{}\"']+"

/** The first format that matches is used. */
const formats: readonly Format[] = [
  { what: "a form", help: formEscape, media: /^application\/x-www-form-urlencoded\b/ },
  {
    what: "a multipart body",
    help: "Send a form, `application/x-www-form-urlencoded`, with `${urlEncode(…)}`.",
    media: /^multipart\//,
  },
  {
    what: "a script",
    help: "Send JSON with `json`, which escapes values; `body jsonp` turns JSON into a script.",
    media: /^(?:text|application)\/(?:x-)?(?:java|ecma)script\b/,
  },
  {
    what: "YAML",
    help: "Write the body with `json`, which escapes values; JSON is YAML.",
    media: /[/+](?:x-)?yaml\b/,
  },
  {
    what: "a GraphQL query",
    help: "Send the query with `json`, and the value in its `variables`.",
    media: /^application\/graphql\b/,
    text: /^\s*(?:(?:query|mutation|subscription)\b[^{]*)?\{\s*[A-Za-z_]\w*\s*[({]/,
  },
  {
    what: "markup",
    help: "Write the body with `xml`, which escapes values, or escape it: `${xmlEscape(…)}`.",
    media: /[/+](?:html|xml)\b/,
    text: /<[A-Za-z!?/\ue000][^<]*>/,
  },
  {
    what: "JSON",
    help: "Write the body with `json`, which escapes values.",
    media: /[/+]json\b/,
    text: /^\s*(?:\{\s*"|\[\s*["{[])|\{\s*(?:"[^"]*"|\ue000)\s*:|^\s*(?:"[^"]*"|\[[^\]]*\])\s*$/,
  },
  {
    what: "a form",
    help: formEscape,
    text: new RegExp(`^\\s*${field}=[^\\s&=]*(?:&(?:${field}(?:=[^\\s&=]*)?)?)+\\s*$`),
    textAsIs: new RegExp(`^\\s*${field}=[^\\s&=]*\\s*$`),
  },
]

/** The format of a body, by its media type or by how it begins. */
function formatOf(text: string, media: string | null): Format | undefined {
  const type = media?.toLowerCase() ?? ""
  return formats.find(
    (each) =>
      each.media?.test(type) === true ||
      each.text?.test(text) === true ||
      (media === null && each.textAsIs?.test(text) === true),
  )
}

/** Fields of `request` that the gateway creates itself, or accepts only in a form that cannot break any format. */
const safeOfRequest: ReadonlySet<string> = new Set(["method", "id", "ip", "time", "scheme", "host"])

/** Warns about a caller's value that is inserted without escaping into a text that looks like markup, JSON or a form. */
export function warnOfRawValues(
  content: TextArgument | Word | CelArgument,
  media: string | null,
  { report, place }: StepContext,
): void {
  const parts = partsOf(content, place)
  if (parts === undefined) return
  const text = parts.map((part) => ("literal" in part ? part.literal : value)).join("")
  if (text === value && isBodyAlone(content)) return
  const format = formatOf(text, media)
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

/** A body that is passed on unchanged is not part of another text, so it cannot break it. */
function isBodyAlone(content: TextArgument | Word | CelArgument): boolean {
  const [only] = content.kind === "text" ? content.parts : [content]
  return only !== undefined && "source" in only && /^\s*request\.(?:text|body)\s*$/.test(only.source)
}

type Stretch = { readonly literal: string } | { readonly spans: readonly Span[] }

/** The parts of a text; undefined if it has no expression. */
function partsOf(
  content: TextArgument | Word | CelArgument,
  place: StatementPlace,
): readonly Stretch[] | undefined {
  if (content.kind === "word") return undefined
  if (content.kind === "cel") return ofExpression(content, place)
  if (content.parts.every(({ kind }) => kind === "literal")) return undefined
  return content.parts.flatMap((part) =>
    part.kind === "literal" ? [{ literal: part.value }] : ofExpression(part, place),
  )
}

/** The stretches of an expression that insert text of the caller without escaping. */
function ofExpression({ source, span }: { source: string; span: Span }, place: StatementPlace): Stretch[] {
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
