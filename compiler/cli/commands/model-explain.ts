import { didYouMean } from "../../core/nearest.ts"
import {
  type ExplainedRelation,
  explainRelation,
  type Need,
  type RequiringRoute,
  routesRequiring,
} from "../../model/explain.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { type ModelArgs, modelOptions, modelSource, readModelArgs } from "../model-source.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"

interface ModelExplainArgs extends ModelArgs {
  readonly type: string
  readonly relation: string
  readonly format: "text" | "json"
}

const modelExplainLine: CommandLine<ModelExplainArgs> = {
  operands: [["<type#relation>", "a relation: order#viewer"]],
  options: [...modelOptions, ...formatOptions],
  examples: [
    ["sallyport model explain order#viewer", "in the model of gateway.conf, with the routes that require it"],
    [
      "sallyport model explain order#viewer --model models/acme.fga --format json",
      "in a model file alone, as JSON",
    ],
  ],
  parse([name], options) {
    // The same form as in the modelling language, where it is a userset (`order#viewer`).
    const [, type, relation] = /^([^#:@\s]+)#([^#:@\s]+)$/.exec(name ?? "") ?? []
    if (type === undefined || relation === undefined) {
      const given = name === undefined ? "" : `, not \`${name}\``
      throw new CliError(
        `model explain needs a relation as TYPE#RELATION${given}`,
        "For example: order#viewer",
      )
    }
    return { ...readModelArgs(options), type, relation, format: readFormat(options, ["text", "json"]) }
  },
}

/** With `--model` there is no plan, so the routes are unknown and left out. */
export const modelExplain = command(modelExplainLine, async (args, io) => {
  const { model, store, plan } = await modelSource(io, args)
  const explained = explainRelation(model, args.type, args.relation)
  if (explained === undefined) throw unknown(args, model.types)
  // A route that requires a dependent relation is also affected, because it depends on this one.
  const names = [explained, ...explained.dependents].map(({ relation }) => relation)
  const routes =
    plan === undefined || store === undefined ? undefined : routesRequiring(plan, store, new Set(names))
  const whole: ExplainedRelation & { routes: typeof routes } = { ...explained, routes }
  print(io, args.format, whole, modelExplainText)
  return exitCode.ok
})

/** The nearest type or relation, and all that exist. */
function unknown(
  { type, relation }: ModelExplainArgs,
  types: ReadonlyMap<string, { readonly relations: ReadonlyMap<string, unknown> }>,
): CliError {
  const relations = types.get(type)?.relations
  if (relations === undefined)
    return new CliError(
      `the model has no type \`${type}\`${didYouMean(type, types.keys())}`,
      `It has ${[...types.keys()].join(", ") || "none"}.`,
    )
  const names = [...relations.keys()]
  const hint = didYouMean(relation, names)
  const help = names.length === 0 ? "It has none." : `It has ${names.join(", ")}.`
  return new CliError(`the type \`${type}\` has no relation \`${relation}\`${hint}`, help)
}

/** A relation, and the routes that require it or a relation that depends on it; undefined if no gateway.conf was read. */
type Explained = ExplainedRelation & { readonly routes: readonly RequiringRoute[] | undefined }

/** Output for people: the definition, and the three questions as trees and lists. */
function modelExplainText(explained: Explained): string {
  const { relation, definition, place } = explained
  const sections = [
    ["Depends on", dependsOn(explained)],
    ["What depends on it", dependents(explained)],
    ["Users that can have it", subjects(explained)],
  ] as const
  const head = `${relation}${place === undefined ? "" : `  ${place}`}\n  define ${relation.split("#")[1]}: ${definition}\n`
  return (
    head +
    sections.map(([title, lines]) => `\n${title}\n${lines.map((line) => `  ${line}\n`).join("")}`).join("")
  )
}

function dependsOn({ dependsOn: need, conditions }: Explained): string[] {
  // The root is the relation itself, whose definition the head already shows.
  const inner = need.kind === "relation" && need.by !== undefined ? treeLines(need.by, "") : []
  const said = conditions.map(({ name, parameters, expression }) => {
    // Only the first line: a condition can have many, and the place leads to all of them.
    const [first = "", ...more] = expression.split("\n")
    return `condition ${name}(${parameters.join(", ")}): ${first}${more.length === 0 ? "" : " …"}`
  })
  return [...inner, ...said]
}

/** The definition as a tree, two spaces for each level. A relation that was shown is named only. */
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
        // A relation that was printed above has no `by`. So a recursive definition ends.
      ]
  }
}

/** Relations that depend on this one, and the routes that require any of them. */
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

/** Each kind of user with the paths on which it can have the relation. */
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

/** What a userset or wildcard means for the question who can have the relation. */
function note(subject: string): string {
  if (subject.endsWith(":*")) return "  every user of the type, with one tuple"
  return subject.includes("#") ? "  the set itself" : ""
}
