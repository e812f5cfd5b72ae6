import type { CompiledModel } from "../../model/compile-model.ts"
import type { RelationMeaning, Shown } from "../../model-compare/compare-relations.ts"
import { compareModels, type ModelComparison } from "../../model-compare/comparison.ts"
import type { AccessExample } from "../../model-compare/example.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { modelOfFile } from "../model-source.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"

interface ModelCompareArgs {
  readonly before: string
  readonly after: string
  readonly format: "text" | "json"
}

const modelCompareLine: CommandLine<ModelCompareArgs> = {
  operands: [
    ["<before>", "the old model: .fga, fga.mod or JSON"],
    ["<after>", "the new model: .fga, fga.mod or JSON"],
  ],
  options: formatOptions,
  examples: [
    [
      "sallyport model compare old/acme.fga models/acme.fga",
      "who may gain or lose each relation, with the smallest example",
    ],
  ],
  parse([before, after], options) {
    if (before === undefined || after === undefined)
      throw new CliError(
        "model compare needs two models",
        "For example: sallyport model compare old/acme.fga models/acme.fga",
      )
    return { before, after, format: readFormat(options, ["text", "json"]) }
  },
}

/** Ends with `changes` when somebody may gain or lose a relation, or when that is not shown. */
export const modelCompare = command(modelCompareLine, async ({ before, after, format }, io) => {
  const [old, next] = [modelOfFile(io, before), modelOfFile(io, after)]
  const compared = await compareModels(old.model, next.model)
  print(io, format, compared, () => comparisonText(compared, next))
  const isSame =
    compared.added.length + compared.removed.length === 0 &&
    compared.relations.every(({ verdict, shown }) => verdict === "same" && shown === "proved")
  return isSame ? exitCode.ok : exitCode.changes
})

function comparisonText({ added, removed, relations }: ModelComparison, next: CompiledModel): string {
  const sections = [
    ...removed.map((name) => `${name}: removed; checks of it fail with an error\n`),
    ...added.map((name) => `${name}: new\n`),
    ...relations.map((meaning) => meaningText(meaning, next)),
  ]
  if (sections.length === 0) return "Nobody gains or loses a relation: both models decide in the same way.\n"
  return sections.join("\n")
}

const verdictWords = {
  same: "nobody gains or loses it",
  wider: "some gain it, nobody loses it",
  narrower: "some lose it, nobody gains it",
  incomparable: "some gain it, others lose it",
} as const

function meaningText({ relation, verdict, shown, gain, loss }: RelationMeaning, next: CompiledModel): string {
  const place = placeOf(relation, next)
  const proof = verdict === "incomparable" ? "" : ` (${shownWords(shown)})`
  const head = `${relation}: ${verdictWords[verdict]}${proof}${place === undefined ? "" : `  ${place}`}\n`
  return [
    head,
    ...(gain === undefined ? [] : [exampleText(gain, true)]),
    ...(loss === undefined ? [] : [exampleText(loss, false)]),
  ].join("")
}

function shownWords(shown: Shown): string {
  if (shown === "proved") return "proved"
  if (shown === "without cycles") return "proved for objects that do not lead back to themselves"
  if (shown === "unknown") return "not proved"
  return `true with fewer than ${shown.fewerThan} tuples that lead to no object twice; beyond that not searched`
}

function placeOf(relation: string, { types }: CompiledModel): string | undefined {
  const [type = "", name = ""] = relation.split("#")
  const span = types.get(type)?.relations.get(name)
  return span === undefined ? undefined : `${span.file.path}:${span.file.position(span.start).line}`
}

/** An example as a test of a store file, which holds for the new model. */
function exampleText({ tuples, user, relation, object }: AccessExample, isGain: boolean): string {
  const lines = [
    `- name: ${user} ${isGain ? "gains" : "loses"} ${relation} on ${object}`,
    "  tuples:",
    ...tuples.flatMap(({ user: subject, relation: by, object: on, condition, context, onlyIn }) => [
      `    - user: ${quoted(subject)}`,
      `      relation: ${by}`,
      `      object: ${quoted(on)}`,
      ...(condition === undefined
        ? []
        : [
            "      condition:",
            `        name: ${condition}${conditionWords(onlyIn, context !== undefined)}`,
            ...(context === undefined ? [] : [`        context: ${JSON.stringify(context)}`]),
          ]),
    ]),
    "  check:",
    `    - user: ${quoted(user)}`,
    `      object: ${object}`,
    "      assertions:",
    `        ${relation}: ${isGain}`,
  ]
  return lines.map((line) => `  ${line}\n`).join("")
}

/** Without a context, what it would have to do. */
function conditionWords(onlyIn: "old" | "new" | undefined, hasContext: boolean): string {
  const model = onlyIn === undefined ? "" : ` in the ${onlyIn} model only`
  if (hasContext) return onlyIn === undefined ? "" : `  # true${model}`
  return `  # has to be true${model}; no context was found in which it is`
}

/** `user:*` would be an alias in YAML. */
function quoted(text: string): string {
  return /[*#]/.test(text) ? JSON.stringify(text) : text
}
