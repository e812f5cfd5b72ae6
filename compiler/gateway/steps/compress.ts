import { sizeText } from "../../../runtime/plan/quantities.ts"
import { closes, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { codeWords } from "../../analysis/words.ts"
import { headSpan, statementOf } from "../bind/bound.ts"
import { lowerMediaRange } from "../lower/media-range.ts"
import { statement, textsOf } from "../print.ts"
import { many, type StatementRow, slot } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

type Compress = Fields<"compress">

const defaults: Compress = {
  codings: ["br", "gzip"],
  types: [
    "application/*+json",
    "application/*+xml",
    "application/javascript",
    "application/json",
    "application/wasm",
    "application/xml",
    "image/svg+xml",
    "text/*",
  ],
  bytesMin: 1024,
  crossSite: false,
}

/** `compress { … }` */
export const compressStatement: StatementDefinition = {
  row: {
    keyword: "compress",
    forms: [{ args: [], block: "compress" }],
    byDefault: "responses are passed on as they come",
    docs: "Compresses responses for clients that accept it (`Accept-Encoding`). Responses that have a coding already, parts, and those with `Cache-Control: no-transform` stay as they are. The nearest block with `compress` decides.",
    example: "compress",
  },
  lower: ({ block, statement: own }, { report, steps }) => {
    const crossSite = statementOf(block, "cross-site")
    if (crossSite !== undefined)
      report.add(
        "SP3060",
        headSpan(crossSite.statement),
        "a page of another site may learn secrets in responses from their compressed lengths",
      )
    const types = (statementOf(block, "types")?.args.all("type") ?? []).flatMap(
      (type) => lowerMediaRange(type, report) ?? [],
    )
    return steps.add(
      {
        kind: "compress",
        codings: [
          ...new Set(
            statementOf(block, "codings")?.args.values<Compress["codings"][number]>("coding") ??
              defaults.codings,
          ),
        ],
        // Sorted and without duplicates: order has no meaning here, and equal rules get equal digests.
        types: types.length === 0 ? defaults.types : [...new Set(types)].sort(),
        bytesMin: statementOf(block, "min")?.args.value<number>("size") ?? defaults.bytesMin,
        crossSite: crossSite !== undefined,
      },
      headSpan(own),
    )
  },
}

/** The statements in the block of `compress`. */
export const compressRows: readonly StatementRow[] = [
  {
    keyword: "codings",
    forms: [{ args: [many(slot("coding", "choice", { choices: ["br", "gzip"] }), 2)] }],
    byDefault: defaults.codings.join(" "),
    docs: "The codings to use. The first is used for clients that prefer none.",
    example: "codings gzip",
  },
  {
    keyword: "types",
    forms: [{ args: [many(slot("type", "constant", { label: '"TYPE"', max: 256 }), 100)] }],
    byDefault: defaults.types.map((type) => `\`${type}\``).join(", "),
    docs: "The media types to compress. `text/*` does not include `text/event-stream`, which has to be named.",
    example: 'types "application/json" "text/*"',
  },
  {
    keyword: "min",
    forms: [{ args: [slot("size", "size", { min: 0, max: 2 ** 30 })] }],
    byDefault: sizeText(defaults.bytesMin),
    docs: "Smaller bodies are not compressed. A body of unknown size is.",
    example: "min 4KB",
  },
  {
    keyword: "cross-site",
    forms: [{ args: [] }],
    byDefault:
      "a request with a cookie, a client certificate or a browser password, and with a query or another method than GET and HEAD, gets an uncompressed response, unless its browser says that a page of the same site made it",
    docs: "Compresses also where a page of another site may learn secrets from the length of responses (BREACH).",
    example: "cross-site",
  },
]

/** Printing and comparison of a step that compresses responses. */
export const compress: StepText<"compress"> = {
  print: ({ codings, types, bytesMin, crossSite }) =>
    statement(
      "compress",
      codings.join() !== defaults.codings.join() && `codings ${codings.join(" ")}`,
      types.join() !== defaults.types.join() && `types${textsOf(types)}`,
      bytesMin !== defaults.bytesMin && `min ${sizeText(bytesMin)}`,
      crossSite && "cross-site",
    ),
  identities: () => ["compress"],
  added: ({ crossSite }) =>
    crossSite ? opens(learns) : neutral("responses are compressed for clients that accept it"),
  removed: ({ crossSite }) => (crossSite ? closes(learnsNot) : neutral("responses are no longer compressed")),
  changed: {
    codings: (_, after) => neutral(`responses are compressed by ${codeWords(after)}`),
    types: (_, after) => neutral(`responses of the types ${codeWords(after)} are compressed`),
    bytesMin: (_, after) => neutral(`responses from ${sizeText(after)} on are compressed`),
    crossSite: (_, after) => (after ? opens(learns) : closes(learnsNot)),
  } satisfies FieldRules<Compress>,
}

const learns = "a page of another site may learn secrets in responses from their compressed lengths"
const learnsNot =
  "a page of another site can no longer learn secrets in responses from their compressed lengths"
