import { join, resolve } from "node:path"
import { Report, type TextEdit } from "../core/diagnostic.ts"
import { withEdits } from "../core/fixes.ts"
import { Project } from "../core/load.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { Statement } from "../gateway/ast.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../gateway/bind/bound.ts"
import { bind } from "../gateway/bind.ts"
import { loadDocuments } from "../gateway/include.ts"
import { type Declaration, Program } from "../gateway/program.ts"
import { type WordMove, withNewWords, withoutOldWords } from "../model/move-words.ts"
import { CliError, type ExitCode, exitCode, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import { configOption, type ProjectArgs, readProject, readStore } from "./options.ts"
import { filesOf } from "./project.ts"
import { replaceFile } from "./replace-file.ts"

/** Which words of a model move, and in which store. */
export interface WordMoveArgs {
  readonly project: ProjectArgs
  readonly store: string | undefined
  readonly moves: readonly WordMove[]
  readonly dryRun: boolean
}

/** Options of the commands that move words. */
export const wordMoveOptions = [
  ["--store <name>", "store of gateway.conf; required when there are several"],
  ["--dry-run", "print the model, and write nothing"],
  configOption,
] as const

/** Reads `wordMoveOptions`. */
export function readWordMoves(options: OptionValues, moves: readonly WordMove[]): WordMoveArgs {
  const project = readProject(options)
  return { project, store: readStore(options), moves, dryRun: options["dryRun"] === true }
}

/**
 * Writes the next of the two plans of a move: the model with both words and the statements `move`, or, when gateway.conf has them, the model
 * with the new words only, without the statements.
 */
export function moveWords(io: Io, { project, store, moves, dryRun }: WordMoveArgs): ExitCode {
  const { declaration, model } = find(io, project, store)
  const { block } = declaration.bound
  const present = moves.map((move) => statementsOf(block, "move").find((each) => isMove(each.args, move)))
  const begun = present.filter((each) => each !== undefined)
  if (begun.length > 0 && begun.length < moves.length)
    throw new CliError(
      "gateway.conf has some of these moves, and not all",
      "Remove them, or add the others by hand.",
    )
  const isEnd = begun.length > 0
  const moved = (isEnd ? withoutOldWords : withNewWords)(model.text, moves)
  if ("problem" in moved) throw new CliError(moved.problem)
  if (dryRun) {
    io.out(moved.text)
    return exitCode.ok
  }
  const conf = declaration.span.file
  const edits = isEnd ? begun.map(({ statement }) => removal(statement)) : [addition(block, moves)]
  const root = resolve(io.cwd, project.folder)
  replaceFile(join(root, model.path), moved.text)
  replaceFile(join(root, conf.path), withEdits(conf.text, edits))
  io.out(isEnd ? endText(model, conf, declaration.name, moves) : beginText(model, conf, moves))
  return exitCode.ok
}

function find(io: Io, project: ProjectArgs, name: string | undefined) {
  const report = new Report()
  const source = new Project(filesOf(io, project), report)
  const program = new Program(
    bind(loadDocuments(source, project.entry, report), report),
    source.complete,
    report,
  )
  const stores = program.all("store")
  const declaration =
    name === undefined && stores.length === 1 ? stores[0] : stores.find((each) => each.name === name)
  if (declaration === undefined)
    throw new CliError(
      name === undefined ? `${project.entry} declares ${stores.length} stores` : `there is no store ${name}`,
      stores.length === 0
        ? "Declare a store with a model."
        : `Name one with --store: ${stores.map((each) => each.name).join(", ")}.`,
    )
  return { declaration, model: modelOf(declaration, source) }
}

function modelOf({ bound, name }: Declaration, source: Project): SourceFile {
  const filled = statementOf(bound.block, "model")?.args.get("path")
  const file =
    filled === undefined ? undefined : source.readNamed(filled.value as string, filled.argument.span)
  if (file === undefined)
    throw new CliError(`the model of store ${name} cannot be read`, "Run `sallyport validate`.")
  if (!file.path.endsWith(".fga"))
    throw new CliError(
      `${file.path} is not a model in one .fga file`,
      'Write the new words into the model by hand, and `move "OLD" to "NEW"` into the store.',
    )
  return file
}

function isMove(args: ReturnType<typeof statementsOf>[number]["args"], move: WordMove): boolean {
  const users = args.all("user").map(({ value }) => value as string)
  return (
    args.get("from")?.value === move.from &&
    args.get("to")?.value === move.to &&
    [...users].sort().join(" ") === [...(move.users ?? [])].sort().join(" ")
  )
}

/** The statements, after that of the model: on lines of their own, or on its line. */
function addition(block: BoundBlock | undefined, moves: readonly WordMove[]): TextEdit {
  const { file, start, end } = headSpan((statementOf(block, "model") as { statement: Statement }).statement)
  const lineStart = file.text.lastIndexOf("\n", start) + 1
  const indent = file.text.slice(lineStart, start)
  const between = indent.trim() === "" ? `\n${indent}` : "; "
  return { span: file.span(end, end), text: moves.map((move) => `${between}${statementText(move)}`).join("") }
}

/** The statement, with its line or its semicolon. */
function removal(statement: Statement): TextEdit {
  const { file, start, end } = headSpan(statement)
  const before = /(?:\n[ \t]*|;[ \t]*)$/.exec(file.text.slice(0, start))
  return { span: file.span(before?.index ?? start, end), text: "" }
}

function statementText({ from, to, users = [] }: WordMove): string {
  const listed = users.map((user) => ` "${user}"`).join("")
  return `move "${from}" to "${to}"${listed === "" ? "" : ` for${listed}`}`
}

function beginText(model: Pick<SourceFile, "path">, conf: Span["file"], moves: readonly WordMove[]): string {
  const late = moves.some(({ from, users }) => !from.includes("#") || users !== undefined)
  return [
    `${model.path}: the new words are beside the old ones`,
    `${conf.path}: ${moves.map(statementText).join(", ")}`,
    ...(late
      ? ["The new words are complete when the move is ready, so nothing but them may read them before that."]
      : []),
    "Next: `sallyport apply`, `sallyport model moves --wait`, and this command again.",
    "",
  ].join("\n")
}

function endText(
  model: Pick<SourceFile, "path">,
  conf: Span["file"],
  store: string,
  moves: readonly WordMove[],
): string {
  return [
    `${model.path}: the old words are gone`,
    `${conf.path}: without ${moves.map(statementText).join(", ")}`,
    `Next: \`sallyport apply\`. Routes, tests and clients must name the new words. When nobody wants to go back: \`sallyport model finish ${store}\`.`,
    "",
  ].join("\n")
}
