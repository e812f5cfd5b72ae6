/**
 * The kinds of problems of an authorization model. The names are OpenFGA's (`errorType` of its language tools); `invalid-shape` … `limit-exceeded` at
 * the end do not exist there.
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
 * A problem of a model. `message` is OpenFGA's text if there is one; `symbol` is the name it is about. `path` refers to the canonical form (snake_case,
 * camelCase inside a userset); `related` are other places of the problem. `range` is set for findings inside a condition's expression: UTF-16 offsets in
 * the `expression` at `path`. `unknown` is set for an unknown name: the name, and the known names for a suggestion.
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

/** Collects the findings of all validation phases. */
export class ModelFindings {
  readonly list: ModelFinding[] = []

  /** `symbol`: the part of the message that names the mistake, as in OpenFGA's tools. */
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

/** The place as a JSON Pointer (RFC 6901), for map keys and messages. */
export function pointerOf(path: ModelPath): string {
  let text = ""
  for (const step of path) {
    text += "/"
    text += typeof step === "number" ? step : step.replaceAll("~", "~0").replaceAll("/", "~1")
  }
  return text
}
