import type { CommandLine } from "../command.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface ApplyArgs {
  readonly project: ProjectArgs
  /** A sealed plan; undefined: compile the text now. */
  readonly file: string | undefined
  readonly yes: boolean
  /** With `yes`: also what `plan` calls a danger. */
  readonly allowDanger: boolean
  /** Why, for the history. */
  readonly reason: string | undefined
}

/** The reason that the history shows. */
export const messageOption = ["--message <text>", "why, for the history"] as const

export function reasonOf(options: Readonly<Record<string, unknown>>): string | undefined {
  const { message } = options
  return typeof message === "string" ? message : undefined
}

export const applyLine: CommandLine<ApplyArgs> = {
  name: "apply",
  summary: "make the text, or a plan that was reviewed, the running configuration",
  operands: [["[file]", "a plan written by `sallyport plan --out`"]],
  options: [
    configOption,
    [
      "--yes",
      "do not ask; refused (exit 3) where a plan is a danger: it empties, halves or doubles what runs",
    ],
    ["--allow-danger", "with --yes: apply such a plan, too"],
    messageOption,
  ],
  examples: [
    ["sallyport apply", "compile, show the changes, ask, apply"],
    [
      "sallyport apply next.json --yes",
      "in CI: exactly the reviewed plan, refused (exit 3) if another was applied meanwhile",
    ],
  ],
  parse: ([file], options) => ({
    project: readProject(options),
    file,
    yes: options["yes"] === true,
    allowDanger: options["allowDanger"] === true,
    reason: reasonOf(options),
  }),
}
