import type { ExplainedRelation } from "../../model/explain.ts"
import type { Need } from "../../model/explain-tree.ts"
import type { RequiringRoute } from "../../model/required-by.ts"

/** A relation and the routes that ask for it or for what depends on it; undefined where no gateway.conf was read. */
export type Explained = ExplainedRelation & { readonly routes: readonly RequiringRoute[] | undefined }

/** For programs. Fields that are not known are left out; new ones may come. */
export function modelExplainJson(explained: Explained): string {
  return `${JSON.stringify(explained, null, 2)}\n`
}

/** For people: the definition, and the three questions as trees and lists. */
export function modelExplainText(explained: Explained): string {
  const { relation, definition, place } = explained
  const sections = [
    ["Depends on", dependsOn(explained)],
    ["What depends on it", dependents(explained)],
    ["Who could ever have it", subjects(explained)],
  ] as const
  const head = `${relation}${place === undefined ? "" : `  ${place}`}\n  define ${relation.split("#")[1]}: ${definition}\n`
  return (
    head +
    sections.map(([title, lines]) => `\n${title}\n${lines.map((line) => `  ${line}\n`).join("")}`).join("")
  )
}

function dependsOn({ dependsOn: need, conditions }: Explained): string[] {
  const inner = need.kind === "relation" && need.by !== undefined ? treeLines(need.by, "") : []
  const said = conditions.map(({ name, parameters, expression }) => {
    const [first = "", ...more] = expression.split("\n")
    return `condition ${name}(${parameters.join(", ")}): ${first}${more.length === 0 ? "" : " …"}`
  })
  return [...inner, ...said]
}

function treeLines(need: Need, indent: string): string[] {
  const below = (needs: readonly Need[]) => needs.flatMap((each) => treeLines(each, `${indent}  `))
  switch (need.kind) {
    case "or":
    case "and":
    case "but not":
      return [`${indent}${need.kind}`, ...below(need.operands)]
    case "tuples":
      return [`${indent}tuples of ${need.of}: ${need.subjects.join(", ")}`, ...below(need.members)]
    case "from":
      return [
        `${indent}${need.wanted} of the objects in tuples of ${need.tupleset}`,
        ...below(need.relations),
      ]
    case "relation":
      return [
        `${indent}${need.relation}: ${need.by === undefined ? "as above" : need.definition}`,
        ...(need.by === undefined ? [] : below([need.by])),
      ]
  }
}

function dependents({ dependents: relations, routes }: Explained): string[] {
  const width = Math.max(0, ...relations.map(({ relation }) => relation.length))
  const lines = relations.map(({ relation, definition, place, direct }) => {
    const where = place === undefined ? "" : `  ${place}`
    return `${relation.padEnd(width)}  ${direct ? definition : `through others: ${definition}`}${where}`
  })
  for (const { route, relation, place } of routes ?? [])
    lines.push(`${route}  requires ${relation}${place === undefined ? "" : `  ${place}`}`)
  return lines.length === 0 ? ["nothing"] : lines
}

function subjects({ subjects: kinds }: Explained): string[] {
  if (kinds.length === 0) return ["nobody"]
  return kinds.flatMap(({ subject, paths }) => [
    subject + note(subject),
    ...paths.map(({ relations, tuples, only }) => {
      const limits = only.length === 0 ? "" : `  (only ${only.join("; ")})`
      return `  ${relations.join(" ← ")} ← [${tuples.join(", ")}]${limits}`
    }),
  ])
}

function note(subject: string): string {
  if (subject.endsWith(":*")) return "  everybody of the type, by one tuple"
  return subject.includes("#") ? "  the set as such" : ""
}
