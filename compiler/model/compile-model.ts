import type { ModelFinding } from "../../runtime/model/finding.ts"
import type { ModelLimits } from "../../runtime/model/limits.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { Report } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { ModelDocument } from "./ast.ts"
import { parseModel } from "./document.ts"
import { reportFindings } from "./findings.ts"
import { declaredIn, readJsonModel } from "./json-model.ts"
import { lintModel } from "./lints.ts"
import { lowerModel } from "./lower.ts"
import { ModelMistakes } from "./mistakes.ts"
import { isModFile, readModFile } from "./mod-file.ts"
import { type ModuleFiles, readModules } from "./modules.ts"
import { ModelPlaces, type PlaceOf } from "./places.ts"
import { checkReadable } from "./readable.ts"
import { checkRepetitions } from "./repetitions.ts"
import { reportWithUnlisted } from "./unlisted-modules.ts"

/** Where a type stands, and its relations by name. Spans cover the names, in whichever file they are. */
export interface DeclaredType {
  readonly span: Span
  readonly relations: ReadonlyMap<string, Span>
}

/** A model without errors: OpenFGA's JSON in canonical form, and where its names are declared in the text. */
export interface CompiledModel {
  /** The file that was compiled; for a modular model that is `fga.mod`. */
  readonly file: SourceFile
  readonly model: AuthorizationModel
  readonly types: ReadonlyMap<string, DeclaredType>
  readonly conditions: ReadonlyMap<string, Span>
}

/** `parts` has the files that a `fga.mod` names (a `Project` does); needed for such a file only. `limits` replaces single limits of runtime/model. */
export interface ModelCompileOptions {
  readonly parts?: ModuleFiles
  readonly limits?: Partial<ModelLimits>
}

/**
 * Compiles a model. The name of the file says how it is written: `*.mod` lists the files of a modular model, `*.json` is OpenFGA's JSON in
 * either spelling, anything else is OpenFGA's language, schema 1.1 or 1.2 (its grammar and semantic rules, and those of its server).
 * All findings go to the report, with places in the file they are about; undefined when one of them is an error. Never throws for
 * anything a text can say, and takes linear time.
 */
export function compileModel(
  file: SourceFile,
  report: Report,
  { parts, limits = {} }: ModelCompileOptions = {},
): CompiledModel | undefined {
  const mistakes = new ModelMistakes(file, report)
  if (!checkReadable(mistakes)) return undefined
  if (file.path.endsWith(".json")) return compileJson(mistakes, limits)
  if (isModFile(file.path)) return compileModular(mistakes, report, parts, limits)
  const document = readText(mistakes)
  return document === undefined ? undefined : compileDocument(document, mistakes, limits)
}

function readText(mistakes: ModelMistakes): ModelDocument | undefined {
  const document = parseModel(mistakes)
  checkRepetitions(document, mistakes)
  if (document.header?.kind !== "module") return document
  mistakes.add("SP4013", document.header.span, "schema version required")
  return undefined
}

function compileModular(
  mistakes: ModelMistakes,
  report: Report,
  parts: ModuleFiles | undefined,
  limits: Partial<ModelLimits>,
): CompiledModel | undefined {
  if (parts === undefined) throw new Error("who compiles a fga.mod must give `parts`")
  const mod = readModFile(mistakes)
  if (mod === undefined) return undefined
  const attempt = (more: readonly SourceFile[]) => {
    const own = new Report()
    const found = new ModelMistakes(mod.file, own)
    const compiled = compileDocument(readModules(mod, parts, found, more), found, limits)
    return { compiled, findings: own.sorted() }
  }
  const { compiled, findings } = attempt([])
  const listed = new Set(mod.contents.value.map(({ text, span }) => parts.readNamed(text, span)))
  const beside = () => parts.beside(".fga", mod.contents.span).filter((file) => !listed.has(file))
  reportWithUnlisted(mod, findings, beside, (more) => attempt(more).findings, report)
  return mistakes.blocked ? undefined : compiled
}

function compileDocument(
  document: ModelDocument,
  mistakes: ModelMistakes,
  limits: Partial<ModelLimits>,
): CompiledModel | undefined {
  const { model, broken } = lowerModel(document)
  const places = new ModelPlaces(document)
  const placeOf: PlaceOf = (path, range) => places.of(path, range)
  // Without a header line there is no version, which was reported.
  const findings = validateModel(model, { rules: "language", broken, limits }).filter(hasVersion)
  reportFindings(findings, placeOf, mistakes)
  // A module that could not be read was reported by who reads: the model without it is another one.
  if (mistakes.blocked || document.namesMissing) return undefined
  reportLints(model, placeOf, mistakes)
  return { file: mistakes.file, model, ...declarationsOf(document) }
}

function hasVersion({ kind }: ModelFinding): boolean {
  return kind !== "schema-version-required"
}

/** By the rules of the server, which stores such a model: what only the language's tools refuse can't be mended in JSON made elsewhere. */
function compileJson(mistakes: ModelMistakes, limits: Partial<ModelLimits>): CompiledModel | undefined {
  const json = readJsonModel(mistakes)
  if (json === undefined) return undefined
  reportFindings(validateModel(json.model, { limits }), json.placeOf, mistakes)
  if (mistakes.blocked) return undefined
  reportLints(json.model, json.placeOf, mistakes)
  return { file: mistakes.file, model: json.model, ...declaredIn(json) }
}

function reportLints(model: AuthorizationModel, placeOf: PlaceOf, mistakes: ModelMistakes): void {
  for (const { code, path, detail, related = [] } of lintModel(model)) {
    const places = related.map((each) => ({ span: placeOf(each.path), message: each.message }))
    mistakes.add(code, placeOf(path), detail, { related: places })
  }
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
