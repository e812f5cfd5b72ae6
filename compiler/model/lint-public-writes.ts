import type { ModelPath } from "../../runtime/model/finding.ts"
import type { IndexedRelation, ModelIndex } from "../../runtime/model/model-index.ts"
import { eachLeaf } from "../../runtime/model/model-index.ts"
import type { Lint } from "./lint.ts"
import type { Subjects } from "./subjects.ts"

const auxiliaries = new Set(["can", "may", "is", "has", "be", "allowed", "to"])

/** Verbs for reading. The words after them are what is read (`can_view_owner`). */
const reading = new Set([
  "view",
  "read",
  "see",
  "list",
  "get",
  "show",
  "search",
  "find",
  "download",
  "viewer",
  "reader",
])

/** Verbs and roles that change data, or that change who may. */
const writing = new Set(
  [
    ["write", "writer", "edit", "editor", "update", "updater", "modify", "change"],
    ["create", "creator", "add", "insert", "upload", "delete", "deleter", "remove", "remover", "destroy"],
    ["own", "owner", "admin", "administrator", "manage", "manager", "maintain", "maintainer"],
    ["grant", "revoke", "share", "approve", "approver", "publish", "publisher", "transfer"],
  ].flat(),
)

/**
 * Whether the name of a relation describes a change. The name is split at `_`, `-` and capitals, and leading auxiliaries are skipped. A name
 * that then begins with a reading verb is about reading; any other name that contains a writing word is about writing.
 */
export function isWriting(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")
  while (auxiliaries.has(words[0] ?? "")) words.shift()
  return !reading.has(words[0] ?? "") && words.some((word) => writing.has(word))
}

/** Write relations that one tuple without a condition can grant to all users, directly or through other relations. */
export function lintPublicWrites(index: ModelIndex, subjects: Subjects): Lint[] {
  return index.relations.flatMap((relation): Lint[] => {
    if (!isWriting(relation.name)) return []
    const wildcards = [...subjects.of(relation)].filter((kind) => kind.endsWith(":*"))
    return wildcards.flatMap((kind): Lint[] => {
      const source = sourceOf(kind, relation, subjects)
      return source === undefined ? [] : [lintOf(kind, relation, source)]
    })
  })
}

/** The finding names the relation with the wildcard, and the one that it makes public. */
function lintOf(kind: string, relation: IndexedRelation, source: IndexedRelation): Lint {
  const type = kind.slice(0, -2)
  const path = wildcardPath(type, source)
  const effect = `lets a single tuple give \`${relation.name}\` of a \`${relation.type}\` to every \`${type}\``
  if (source === relation) return { code: "SP4042", path, detail: `\`${kind}\` ${effect}` }
  const related = [{ path, message: `\`${kind}\` is listed here` }]
  const detail = `\`${kind}\` in \`${source.type}#${source.name}\` ${effect}`
  return { code: "SP4042", path: relation.path, detail, related }
}

function wildcardPath(type: string, { references, referencesPath }: IndexedRelation): ModelPath {
  const at = references.findIndex(
    (each) => each.type === type && each.wildcard !== undefined && each.condition === undefined,
  )
  return [...referencesPath, at]
}

/** The nearest relation that lists the wildcard. Undefined when another write relation is in between: the finding is reported there. */
function sourceOf(kind: string, from: IndexedRelation, subjects: Subjects): IndexedRelation | undefined {
  const seen = new Set([from])
  for (const relation of seen) {
    if (relation !== from && isWriting(relation.name)) continue
    if (subjects.direct(relation).has(kind)) return relation
    eachLeaf(relation.rewrite, (leaf) => {
      for (const next of subjects.behind(leaf, relation)) if (subjects.of(next).has(kind)) seen.add(next)
    })
  }
  return undefined
}
