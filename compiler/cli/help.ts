import { nearest } from "../core/nearest.ts"
import {
  type BlockReference,
  languageReference,
  type StatementReference,
} from "../gateway/language-reference.ts"
import { explainCode } from "../render/explain.ts"
import { CliError } from "./command.ts"
import { variables } from "./variables.ts"
import { meaningText, type StatementMeaning, variableText } from "./views/statement.ts"

/**
 * The blocks that most projects write, the commonest first: readers of `help audience` mean that of an issuer, not that of an introspection
 * endpoint. The order is that of the uses in the examples and the manual, which a test counts. Other blocks follow in the schema's order.
 */
const commonBlocks: readonly BlockReference["name"][] = [
  "api",
  "operation",
  "file",
  "listen",
  "backend",
  "subscription",
  "issuer",
  "gateway",
  "inbound",
  "outbound",
  "cors",
  "oidc",
]

/** The output of `sallyport help SALLYPORT_SPOOL` for an environment variable. Undefined for any other word. */
export function variableHelp(words: readonly string[], columns: number): string | undefined {
  const name = words.join(" ").toUpperCase()
  const found = Object.hasOwn(variables, name) ? variables[name] : undefined
  return found === undefined ? undefined : variableText(name, found, columns)
}

/** The output of `sallyport help SP5012`, for readers who do not know `explain` yet. Undefined for any other word. */
export function findingHelp(words: readonly string[]): string | undefined {
  return explainCode(words.join(" "))
}

/**
 * The output of `sallyport help WORDS` for statements of gateway.conf: `require`, or `health timeout` for one block. Undefined for other
 * words.
 */
export function statementHelp(words: readonly string[], columns: number): string | undefined {
  const all = languageReference()
  const keyword = words.at(-1) ?? ""
  const block = words.slice(0, -1).join(" ")
  const within = block === "" ? all : all.filter(({ name }) => name === block)
  const meanings = meaningsOf(keyword, within)
  if (meanings.length === 0) return undefined
  return meanings
    .map((meaning) => meaningText(meaning, openedBy(meaning.statement, all), columns))
    .join("\n----\n\n")
}

/** @throws CliError with the nearest statements and commands. */
export function unknownTopic(words: readonly string[], commands: readonly string[]): CliError {
  const known = [
    ...commands,
    ...Object.keys(variables),
    ...languageReference().flatMap(({ statements }) => statements.map((each) => each.keyword)),
  ]
  const found = words.flatMap((word) => nearest(word, new Set(known)) ?? [])
  const meant = found.length === 0 ? "" : `Did you mean \`sallyport help ${found[0]}\`? `
  return new CliError(
    `there is no command or statement \`${words.join(" ")}\``,
    `${meant}\`sallyport help\` lists the commands, \`sallyport docs ${words.join(" ")}\` searches the manual.`,
  )
}

/** The different meanings of a keyword, each with the blocks in which it has that meaning, the commonest meaning first. */
function meaningsOf(keyword: string, within: readonly BlockReference[]): StatementMeaning[] {
  const found = new Map<string, { statement: StatementReference; blocks: BlockReference[] }>()
  for (const block of within) {
    const statement = block.statements.find((each) => each.keyword === keyword)
    if (statement === undefined) continue
    const key = JSON.stringify(statement)
    const known = found.get(key)
    if (known === undefined) found.set(key, { statement, blocks: [block] })
    else known.blocks.push(block)
  }
  return [...found.values()].sort((a, b) => rankOf(a) - rankOf(b))
}

/** Smaller for a commoner meaning. */
function rankOf({ blocks }: StatementMeaning): number {
  return Math.min(...blocks.map(({ name }) => commonBlocks.indexOf(name) + 1 || commonBlocks.length + 1))
}

function openedBy({ opens }: StatementReference, all: readonly BlockReference[]): BlockReference[] {
  return opens.flatMap((name) => all.find((block) => block.name === name) ?? [])
}
