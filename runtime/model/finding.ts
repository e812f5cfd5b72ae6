/**
 * What can be wrong with an authorization model. Where OpenFGA's language tools have a name for it (their `errorType`), it is that
 * name; `invalid-shape` … `limit-exceeded` at the end have none there.
 */
export type ModelFindingKind =
  | "schema-version-required"
  | "invalid-schema"
  | "reserved-type-keywords"
  | "reserved-relation-keywords"
  | "invalid-name"
  | "duplicated-error"
  | "missing-definition"
  | "invalid-type"
  | "invalid-relation-type"
  | "invalid-relation-on-tupleset"
  | "tupleuserset-not-direct"
  | "assignable-relation-must-have-type"
  | "type-wildcard-relation"
  | "relation-no-entry-point"
  | "condition-not-defined"
  | "condition-not-used"
  | "different-nested-condition-name"
  | "multiple-modules-in-file"
  | "invalid-shape"
  | "too-few-operands"
  | "types-not-assignable"
  | "relation-cycle"
  | "invalid-condition"
  | "limit-exceeded"

/** A place in the model's JSON, from the root: `["type_definitions", 2, "relations", "viewer"]`. */
export type ModelPath = readonly (string | number)[]

/**
 * One thing wrong with a model. `message` is OpenFGA's sentence where it has one; `symbol` the name it is about.
 * `path` follows the canonical form (snake_case, camelCase inside a userset); `related` are other places that belong to it.
 * `range` is set for findings inside a condition's expression: UTF-16 offsets in the `expression` that `path` leads to.
 * `unknown` is set where a name is not known: the name, and those that are, so that the nearest can be offered.
 */
export interface ModelFinding {
  readonly kind: ModelFindingKind
  readonly message: string
  readonly path: ModelPath
  readonly symbol: string
  readonly related: readonly { readonly path: ModelPath; readonly message: string }[]
  readonly range?: { readonly start: number; readonly end: number }
  readonly unknown?: { readonly name: string; readonly known: () => Iterable<string> }
}

/** What the phases of validation add to. */
export class ModelFindings {
  readonly list: ModelFinding[] = []

  add(
    kind: ModelFindingKind,
    path: ModelPath,
    symbol: string,
    message: string,
    more: Partial<ModelFinding> = {},
  ): void {
    this.list.push({ kind, message, path, symbol, related: [], ...more })
  }
}

/** The place as a JSON Pointer (RFC 6901), for keys of maps and for messages. */
export function pointerOf(path: ModelPath): string {
  let text = ""
  for (const step of path) {
    text += "/"
    text += typeof step === "number" ? step : step.replaceAll("~", "~0").replaceAll("/", "~1")
  }
  return text
}
