import type { ModelFinding, ModelFindingKind } from "../../runtime/model/finding.ts"
import type { ModelLimits } from "../../runtime/model/limits.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import type { Code } from "../core/catalogue.ts"
import type { Related, Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { ModelDocument } from "./ast.ts"
import { parseModel } from "./document.ts"
import { lintModel } from "./lints.ts"
import { lowerModel } from "./lower.ts"
import { Mistakes } from "./mistakes.ts"
import { Places } from "./places.ts"
import { checkRepetitions } from "./repetitions.ts"

/** Where a type stands, and its relations by name. Spans cover the names. */
export interface DeclaredType {
  readonly span: Span
  readonly relations: ReadonlyMap<string, Span>
}

/** A model without errors: OpenFGA's JSON in canonical form, and where its names are declared in the text. */
export interface CompiledModel {
  readonly file: SourceFile
  readonly model: AuthorizationModel
  readonly types: ReadonlyMap<string, DeclaredType>
  readonly conditions: ReadonlyMap<string, Span>
}

/** Characters a model's text may have. OpenFGA stores 256 KiB of model; the rest is room for comments. */
const textMax = 1024 * 1024

/**
 * Compiles a model written in OpenFGA's language, schema 1.1 or 1.2 (its grammar and semantic rules, and those of its server).
 * All findings go to the report, with places; undefined when one of them is an error. Never throws and takes linear time,
 * whatever the text. `limits` replaces single limits of runtime/model.
 */
export function compileModel(
  file: SourceFile,
  report: Report,
  limits: Partial<ModelLimits> = {},
): CompiledModel | undefined {
  const mistakes = new Mistakes(file, report)
  if (!isReadable(mistakes)) return undefined
  const document = parseModel(mistakes)
  checkRepetitions(document, mistakes)
  if (document.header?.kind === "module") {
    mistakes.add("SP4013", document.header.span, "schema version required")
    return undefined
  }
  const lowered = lowerModel(document)
  const places = new Places(document)
  reportFindings(
    validateModel(lowered.model, { rules: "language", broken: lowered.broken, limits }),
    places,
    mistakes,
  )
  if (mistakes.blocked) return undefined
  for (const { code, path, detail } of lintModel(lowered.model)) {
    mistakes.add(code, places.of(path), detail)
  }
  return { file, model: lowered.model, ...declarationsOf(document) }
}

/** What would make everything after it meaningless: no text, or too much. */
function isReadable(mistakes: Mistakes): boolean {
  const { file } = mistakes
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const strange = file.text.search(/[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufffd]/)
  if (file.text.length > textMax) {
    const detail = `the file has ${file.text.length} characters, more than the ${textMax} allowed`
    mistakes.add("SP4004", file.span(0, 0), detail)
  } else if (strange !== -1) {
    const code = file.text.charCodeAt(strange).toString(16).toUpperCase().padStart(4, "0")
    mistakes.add("SP4003", file.span(strange, strange + 1), `the character U+${code} is no part of a text`)
  } else if (file.text.split(/[\r\n]/).some((line) => !/^\s*(?:#|$)/.test(line))) return true
  else mistakes.add("SP4002", file.span(0, 0), "there is nothing in this file but blanks and comments")
  return false
}

/** Findings that only text can't have are missing here: the grammar keeps them away. */
const codes: Partial<Record<ModelFindingKind, Code>> = {
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
}

function codeOf(finding: ModelFinding): Code {
  if (finding.kind === "duplicated-error") {
    if (finding.path.at(-1) === "type") return "SP4027"
    return finding.path.includes("directly_related_user_types") ? "SP4031" : "SP4032"
  }
  const code = codes[finding.kind]
  if (code === undefined) throw new Error(`a model from text can't have the finding ${finding.kind}`)
  return code
}

/** Comparisons of names in the search for the nearest ones: a model with thousands of unknown names is read by nobody. */
const comparisonsMax = 100_000

function reportFindings(findings: readonly ModelFinding[], places: Places, mistakes: Mistakes): void {
  let comparisons = 0
  const suggestion = ({ unknown }: ModelFinding): string => {
    if (unknown === undefined || comparisons > comparisonsMax) return ""
    const known = [...unknown.known()]
    comparisons += known.length
    return didYouMean(unknown.name, known)
  }
  for (const finding of findings) {
    // Without a header line there is no version, which was reported.
    if (finding.kind === "schema-version-required") continue
    const related: Related[] = finding.related.map(({ path, message }) => ({
      span: places.of(path),
      message,
    }))
    mistakes.add(
      codeOf(finding),
      places.of(finding.path, finding.range),
      detailOf(finding) + suggestion(finding),
      {
        related,
      },
    )
  }
}

/** OpenFGA's sentence in our form: lower-case, without a full stop. */
function detailOf({ kind, message, symbol }: ModelFinding): string {
  if (kind === "relation-cycle") return `\`${symbol}\` is computed from itself`
  const text = message.replace(/\.$/, "")
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function declarationsOf(document: ModelDocument): Pick<CompiledModel, "types" | "conditions"> {
  const types = document.types.map(({ name, relations }): [string, DeclaredType] => [
    name.text,
    { span: name.span, relations: new Map(relations.map((each) => [each.name.text, each.name.span])) },
  ])
  return {
    types: new Map(types),
    conditions: new Map(document.conditions.map(({ name }) => [name.text, name.span])),
  }
}
