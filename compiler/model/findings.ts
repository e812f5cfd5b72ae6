import type { ModelFinding, ModelFindingKind } from "../../runtime/model/finding.ts"
import type { DiagnosticCode } from "../core/catalogue.ts"
import type { Related } from "../core/diagnostic.ts"
import { nearest } from "../core/nearest.ts"
import { tellOdd } from "../core/odd-characters.ts"
import type { ModelMistakes } from "./mistakes.ts"
import type { PlaceOf } from "./places.ts"

/** Kinds whose code depends on more than the kind, or that cannot occur here: a text file is one module, and JSON is checked by the server's rules. */
type Other = "duplicated-error" | "schema-version-required" | "multiple-modules-in-file"

/** The code for each kind of finding of `runtime/model`. */
const codes: Record<Exclude<ModelFindingKind, Other>, DiagnosticCode> = {
  "invalid-schema": "SP4012",
  "reserved-type-keywords": "SP4034",
  "reserved-relation-keywords": "SP4034",
  "invalid-name": "SP4035",
  "missing-definition": "SP4020",
  "invalid-type": "SP4021",
  "invalid-relation-type": "SP4022",
  "invalid-relation-on-tupleset": "SP4023",
  "tupleuserset-not-direct": "SP4024",
  "relation-no-entry-point": "SP4025",
  "relation-cycle": "SP4026",
  "condition-not-defined": "SP4036",
  "condition-not-used": "SP4037",
  "invalid-condition": "SP4038",
  "limit-exceeded": "SP4039",
  // The grammar rejects these in text; a model given as JSON can contain them.
  "invalid-shape": "SP4061",
  "assignable-relation-must-have-type": "SP4062",
  "types-not-assignable": "SP4063",
  "too-few-operands": "SP4064",
  "type-wildcard-relation": "SP4065",
  "different-nested-condition-name": "SP4066",
}

function codeOf({ kind, path }: ModelFinding): DiagnosticCode {
  if (kind === "schema-version-required") return "SP4012"
  if (kind === "multiple-modules-in-file")
    throw new Error(`a model from a file can't have the finding ${kind}`)
  if (kind !== "duplicated-error") return codes[kind]
  if (path.at(-1) === "type") return "SP4027"
  return path.includes("directly_related_user_types") ? "SP4031" : "SP4032"
}

/** Reports problems of a model's JSON at the places of its parts in the text. */
export function reportFindings(
  findings: readonly ModelFinding[],
  placeOf: PlaceOf,
  mistakes: ModelMistakes,
): void {
  const misspelt = findings.flatMap(({ kind, unknown }) =>
    kind === "condition-not-defined" && unknown !== undefined ? [unknown.name] : [],
  )
  for (const finding of findings) {
    const { path, range, unknown } = finding
    // A misspelt use of a condition also leaves it unused.
    if (
      finding.kind === "condition-not-used" &&
      misspelt.some((each) => nearest(each, [finding.symbol]) !== undefined)
    )
      continue
    const related: Related[] = finding.related.map((each) => ({
      span: placeOf(each.path),
      message: each.message,
    }))
    const [code, span] = [codeOf(finding), placeOf(path, range)]
    const odd = finding.kind === "invalid-condition" ? tellOdd(span.file.text, span.start) : undefined
    const detail = odd?.detail ?? detailOf(finding)
    if (unknown === undefined)
      mistakes.add(code, span, detail, odd === undefined ? { related } : { related, help: odd.help })
    else mistakes.addUnknown(code, span, detail, unknown.name, unknown.known(), { related })
  }
}

/** OpenFGA's message in our style: lower case, without a full stop. */
function detailOf({ kind, message, symbol }: ModelFinding): string {
  if (kind === "relation-cycle") return `\`${symbol}\` is computed from itself`
  const text = message.replace(/\.$/, "")
  return text.charAt(0).toLowerCase() + text.slice(1)
}
