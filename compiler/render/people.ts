import pc from "picocolors"
import type { AccessChange } from "../../runtime/check/access-change.ts"
import type { AccessImpact, RelationImpact } from "../../runtime/check/impact.ts"
import { isAnyone, type RelationPeople, riskOf, type StorePeople, totalOf } from "../diff/people.ts"
import { causeLines, groupText } from "./people-causes.ts"
import { changes, counted, nouns, number, signs, verbs } from "./people-words.ts"
import { visible } from "./width.ts"

/** Routes that are named before the rest is counted. */
const routesMax = 4
/** Groups that are named for each kind of change. */
const groupsMax = 3

/** Who gains or loses access, as text for people. */
export function peopleText(people: StorePeople, { colour }: { readonly colour: boolean }): string {
  const paint = pc.createColors(colour)
  const lines = [paint.bold(visible(`people of store ${people.store}`)), `  ${visible(sourceOf(people))}`]
  for (const relation of people.relations) {
    const { impact, origin } = relation
    const place = origin === undefined ? "" : paint.dim(visible(`  ${origin}`))
    lines.push(`  ${paint.bold(visible(impact.relation))}${place}`)
    for (const line of relationLines(relation)) lines.push(`    ${visible(line)}`)
  }
  for (const line of storeLines(people)) lines.push(`  ${visible(line)}`)
  lines.push("", visible(summaryOf(people)))
  return `${lines.join("\n")}\n`
}

/** Who gains or loses access, for a comment of a pull request. */
export function peopleMarkdown(people: StorePeople): string {
  const rows = people.relations.map(
    ({ impact, origin }) =>
      `| \`${impact.relation}\` | ${changes
        .flatMap((change) => countsOf(impact, change).map((line) => line.trim()))
        .join("<br>")} | ${number(impact.objects)} | ${origin === undefined ? "" : `\`${origin}\``} |`,
  )
  const samples = people.relations.flatMap((relation) =>
    ["", ...relationLines(relation).map((line) => `  ${line}`)].toSpliced(0, 1, relation.impact.relation),
  )
  return [
    `### People of store \`${people.store}\``,
    "",
    `${summaryOf(people)} (${sourceOf(people)})`,
    "",
    ...(rows.length === 0
      ? []
      : ["| Relation | Change | Objects | Place |", "| --- | --- | --- | --- |", ...rows, ""]),
    ...storeLines(people).map((line) => (line.startsWith("  ") ? `  - ${line.trim()}` : `- ${line}`)),
    ...(samples.length === 0
      ? []
      : [
          "",
          "<details><summary>Examples</summary>",
          "",
          "```text",
          ...samples.map(visible),
          "```",
          "",
          "</details>",
        ]),
    "",
  ].join("\n")
}

/** The same for programs: an element of the array of changes. */
export function peopleJson(people: StorePeople): Record<string, unknown> {
  const { store, source, revision, tuples, whole, impact, relations } = people
  const risk = riskOf(people)
  const why = summaryOf(people)
  return {
    risk,
    danger: false,
    action: "changed",
    subject: { kind: "people", name: store },
    scope: { kind: "store", name: store },
    routes: [
      ...new Set(relations.flatMap(({ uses }) => [...uses.require, ...uses.filter, ...uses.grant])),
    ].sort(),
    where: "",
    path: `authz.stores.${store}`,
    before: null,
    after: null,
    why,
    reasons: [{ risk, why }],
    origin: relations[0]?.origin ?? null,
    people: {
      ...{ source, revision, tuples, whole },
      users: impact.users,
      objects: impact.objects,
      compared: impact.compared,
      candidates: impact.candidates,
      causes: impact.causes,
      changedTuples: impact.tuples,
      relations: relations.map(({ impact: each, uses, origin }) => ({
        ...each,
        uses,
        origin: origin ?? null,
      })),
    },
  }
}

function sourceOf({ source, revision, tuples, whole }: StorePeople): string {
  const at = revision === null ? "" : ` at revision ${revision}`
  return `${counted(tuples, "tuple")}${whole ? "" : " that the change concerns,"} of ${source}${at}`
}

function summaryOf(people: StorePeople): string {
  const parts = changes
    .filter((change) => isAnyone(people, change))
    .map((change) => totalText(people, change))
  if (parts.length === 0) return `People of ${people.store}: nobody gains or loses access.`
  const { gains, loses } = people.impact.users
  const users = `${counted(gains, "user")} with gains, ${number(loses)} with losses`
  return `People of ${people.store}: ${parts.join(", ")}; ${users}; ${counted(people.impact.objects, "object")}.`
}

function storeLines(people: StorePeople): string[] {
  return [...causeLines(people.impact.causes), ...tupleLines(people.impact), ...limitLines(people)]
}

function totalText(people: StorePeople, change: AccessChange): string {
  const { users, sets, everyone } = totalOf(people, change)
  const plain = users === 0 ? [] : [counted(users, ...nouns[change])]
  const all = everyone === 0 ? [] : [`${verbs[change]} for everybody on ${counted(everyone, "object")}`]
  // A set changes like its members, so it is worth a word only where no member changes.
  const alone = users + everyone === 0 ? [`${counted(sets, ...nouns[change])} of sets as users`] : []
  return [...plain, ...all, ...alone].join(" and ")
}

function relationLines({ impact, uses }: RelationPeople): string[] {
  const { conditions, deep, samples } = impact
  return [
    ...(impact.in === "after" ? ["new relation"] : impact.in === "before" ? ["removed relation"] : []),
    ...changes.flatMap((change) => countsOf(impact, change)),
    `on ${counted(impact.objects, "object")}`,
    ...(conditions.length === 0
      ? []
      : [`"may" and "undecided": when ${conditions.map((each) => `\`${each}\``).join(", ")}`]),
    ...(deep === 0 ? [] : [`${counted(deep, "object")} may be too deep for a check, which then fails`]),
    ...samples.flatMap((sample) => [
      `${sampleText(sample, verbs[sample.change as AccessChange])} ${impact.relation.split("#")[1]} on ${sample.object}`,
      ...answerLines("before", sample.before),
      ...answerLines("after", sample.after),
    ]),
    ...routeLine("require", uses.require),
    ...routeLine("filter", uses.filter),
    ...routeLine("grant", uses.grant),
    ...(uses.authzen
      ? [`AuthZEN: action \`${impact.relation.split("#")[1]}\` on \`${impact.relation.split("#")[0]}\``]
      : []),
  ]
}

function sampleText({ user, group }: RelationImpact["samples"][number], verb: string): string {
  return group === undefined ? `${user} ${verb}` : `${user}, one of the ${groupText(group)}, ${verb}`
}

/** `+ 156 on 12 objects`, and `+ everybody (user:*) on 3 objects, except 2 users`. */
function countsOf(impact: RelationImpact, change: AccessChange): string[] {
  const users = impact.users[change]
  const lines = users === 0 ? [] : [`${signs[change]} ${counted(users, ...nouns[change])} of named users`]
  for (const group of impact.groups.filter((each) => each.change === change).slice(0, groupsMax))
    lines.push(`  ${groupText(group)} on ${counted(group.objects, "object")}`)
  const sets = impact.sets[change]
  if (sets > 0) lines.push(`${signs[change]} ${counted(sets, ...nouns[change])} of sets as users`)
  for (const each of impact.everyone)
    if (each.change === change) {
      const except = impact.exceptions === 0 ? "" : `, except ${counted(impact.exceptions, "named user")}`
      lines.push(
        `${signs[change]} everybody (${each.type}:*) ${verbs[change]}, on ${counted(each.objects, "object")}${except}`,
      )
    }
  return lines
}

function answerLines(
  when: "before" | "after",
  { allowed, reasons }: RelationImpact["samples"][number]["before"],
): string[] {
  const verdict = allowed === null ? "not decided" : allowed ? "allowed" : "denied"
  if (reasons.length === 0) return [`  ${when}: ${verdict}${allowed === false ? ", nothing grants it" : ""}`]
  return [`  ${when}: ${verdict}`, ...reasons.map((line) => `    ${line}`)]
}

function routeLine(word: string, routes: readonly string[]): string[] {
  if (routes.length === 0) return []
  const more = routes.length - routesMax
  return [`${word}: ${routes.slice(0, routesMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`]
}

function tupleLines({ tuples }: AccessImpact): string[] {
  return tuples.map(({ becomes, tuples: count, user, relation, type, condition }) => {
    const shape = `\`${user} ${relation} ${type}:…\`${condition === undefined ? "" : ` with ${condition}`}`
    const words = {
      ignored: "will be ignored: the new model does not allow them",
      counted: "will count: the old model ignores them",
      invalid: "have a context that does not fit the new parameters of their condition",
    }
    return `${counted(count, "tuple")} of the shape ${shape} ${words[becomes]}`
  })
}

function limitLines({ impact }: StorePeople): string[] {
  if (impact.compared === impact.candidates) return []
  return [
    `a sample only: the memory was enough for ${number(impact.compared)} of ${counted(impact.candidates, "object and relation", "objects and relations")} that the change may concern; the counts are those of the sample`,
  ]
}
