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

/** The place of a type, and its relations by name. Spans cover the names, in any file of the model. */
export interface DeclaredType {
  readonly span: Span
  readonly relations: ReadonlyMap<string, Span>
}

/** A model without errors: OpenFGA's JSON in canonical form, and the places where the text declares its names. */
export interface CompiledModel {
  /** The compiled file; `fga.mod` for a modular model. */
  readonly file: SourceFile
  readonly model: AuthorizationModel
  readonly types: ReadonlyMap<string, DeclaredType>
  readonly conditions: ReadonlyMap<string, Span>
  /** Places in the text of the language; undefined for JSON. */
  readonly placeOf: PlaceOf | undefined
}

/** `parts` reads the files that a `fga.mod` names (a `Project` can); only a `fga.mod` needs it. `limits` replaces single limits of runtime/model. */
export interface ModelCompileOptions {
  readonly parts?: ModuleFiles
  readonly limits?: Partial<ModelLimits>
}

/**
 * Compiles a model. The file name selects the format: `*.mod` lists the files of a modular model, `*.json` is OpenFGA's JSON in either
 * spelling, anything else is OpenFGA's language, schema 1.1 or 1.2 (rules of its grammar, its language tools and its server). All findings go
 * to the report, with places in the file they are about. Returns undefined when one of them is an error. Never throws for any input text, and
 * takes linear time.
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

/**
 * A `fga.mod` and its modules. If the listed modules do not compile, the ones beside them are tried too: a module that is missing from the
 * list explains many findings.
 */
function compileModular(
  mistakes: ModelMistakes,
  report: Report,
  parts: ModuleFiles | undefined,
  limits: Partial<ModelLimits>,
): CompiledModel | undefined {
  if (parts === undefined) throw new Error("a fga.mod is compiled only with `parts`")
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

/** Checks the JSON with the code that checks models from the API, and reports its findings at the places of the text. */
function compileDocument(
  document: ModelDocument,
  mistakes: ModelMistakes,
  limits: Partial<ModelLimits>,
): CompiledModel | undefined {
  const { model, broken } = lowerModel(document)
  const places = new ModelPlaces(document)
  const placeOf: PlaceOf = (path, range) => places.of(path, range)
  // Without a header line the version is missing, which was already reported.
  const findings = validateModel(model, { rules: "language", broken, limits }).filter(hasVersion)
  reportFindings(findings, placeOf, mistakes)
  // The reader already reported modules it could not read. Without them this would be a different model.
  if (mistakes.blocked || document.namesMissing) return undefined
  reportLints(model, placeOf, mistakes)
  return { file: mistakes.file, model, placeOf, ...declarationsOf(document) }
}

function hasVersion({ kind }: ModelFinding): boolean {
  return kind !== "schema-version-required"
}

/** Uses the server's rules. The rules that only the language tools enforce could not be fixed in JSON that another tool generated. */
function compileJson(mistakes: ModelMistakes, limits: Partial<ModelLimits>): CompiledModel | undefined {
  const json = readJsonModel(mistakes)
  if (json === undefined) return undefined
  reportFindings(validateModel(json.model, { limits }), json.placeOf, mistakes)
  if (mistakes.blocked) return undefined
  reportLints(json.model, json.placeOf, mistakes)
  return { file: mistakes.file, model: json.model, placeOf: undefined, ...declaredIn(json) }
}

function reportLints(model: AuthorizationModel, placeOf: PlaceOf, mistakes: ModelMistakes): void {
  for (const { code, path, detail, related = [] } of lintModel(model)) {
    const places = related.map((each) => ({ span: placeOf(each.path), message: each.message }))
    mistakes.add(code, placeOf(path), detail, { related: places })
  }
}

/** Where types, relations and conditions are declared. */
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
