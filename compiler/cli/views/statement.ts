import { catalogue } from "../../core/catalogue.ts"
import type { BlockReference, StatementReference } from "../../gateway/language-reference.ts"
import type { EnvironmentVariable } from "../variables.ts"

/** A statement, and the titles of the blocks in which it has this meaning. */
export interface StatementMeaning {
  readonly statement: StatementReference
  readonly blocks: readonly BlockReference[]
}

/** How often it can appear in one block. */
export function timesText({ required, times }: StatementReference): string {
  if (times === Number.POSITIVE_INFINITY) return required ? "required, may be repeated" : "may be repeated"
  if (times > 1) return `${required ? "required, " : ""}at most ${times.toLocaleString("en")} times`
  return required ? "required, once" : "once"
}

/** The output of `sallyport help KEYWORD` for one meaning of the keyword. `opened` are the blocks that the statement can open. */
export function meaningText(
  { statement, blocks }: StatementMeaning,
  opened: readonly BlockReference[],
  columns: number,
): string {
  const holds = opened.map(
    ({ name, statements }) =>
      [`\`${name}\` holds`, statements.map(({ keyword }) => keyword).join(", ")] as const,
  )
  const facts: (readonly [string, string])[] = [
    ["Blocks", blocks.map(({ title }) => title).join(", ")],
    ["How often", timesText(statement)],
    ...(statement.byDefault === undefined ? [] : [["Default", statement.byDefault] as const]),
    ...(statement.bounds.length === 0 ? [] : [["Arguments", statement.bounds.join("; ")] as const]),
    ...holds,
    ["Example", statement.example],
    ...findingsOf(statement),
  ]
  return [
    ...statement.syntax.map((line) => `  ${line}\n`),
    `\n${wrapped(statement.docs, columns, "")}\n`,
    factsText(facts, columns),
  ].join("")
}

function findingsOf({ findings, expressions }: StatementReference): (readonly [string, string])[] {
  const codes = findings.map((code) => `${code} ${catalogue[code].title}`)
  if (expressions) codes.push("those of expressions (`sallyport docs expressions`)")
  return codes.length === 0 ? [] : [["Findings", codes.join("; ")]]
}

/** The output of `sallyport help VARIABLE`. */
export function variableText(name: string, variable: EnvironmentVariable, columns: number): string {
  const { docs, commands, byDefault, example } = variable
  const facts: (readonly [string, string])[] = [
    ["Read by", commands.includes("all") ? "all commands" : commands.join(", ")],
    ...(byDefault === undefined ? [] : [["Default", byDefault] as const]),
    ["Example", `${name}=${example}`],
  ]
  return `${wrapped(docs, columns, "")}\n${factsText(facts, columns)}`
}

function factsText(facts: readonly (readonly [string, string])[], columns: number): string {
  return facts.map(([name, text]) => `${name}: ${wrapped(text, columns, "    ", name.length + 2)}`).join("")
}

/** Wraps words to lines of at most `columns`. The first line is shorter by `used` columns, later lines begin with `indent`. */
function wrapped(text: string, columns: number, indent: string, used = 0): string {
  const lines: string[] = []
  let line = ""
  let room = columns - used
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line)
      line = indent + word
      room = columns
    } else line = line === "" ? word : `${line} ${word}`
  }
  return `${[...lines, line].join("\n")}\n`
}
