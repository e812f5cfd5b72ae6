import { once } from "node:events"
import { createWriteStream, renameSync, rmSync, type WriteStream } from "node:fs"
import { resolve } from "node:path"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import { fileReason } from "../../../runtime/plan/file-reason.ts"
import { columnNames } from "../../model-test/tuples.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { readStore, storeOption, textOf } from "../options.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { storePath } from "../store.ts"
import { formatOf } from "../tuple-batches.ts"

const exportFormats = ["jsonl", "csv"] as const
type ExportFormat = (typeof exportFormats)[number]

interface ExportArgs {
  /** Undefined: standard output. */
  readonly file: string | undefined
  readonly format: ExportFormat
  readonly store: string | undefined
}

const exportLine: CommandLine<ExportArgs> = {
  operands: [["[file]", "file to write, .jsonl or .csv (default: standard output)"]],
  options: [
    storeOption,
    ["--format <format>", "jsonl or csv (default: by the ending of the file, else jsonl)"],
  ],
  examples: [
    ["sallyport tuple export tuples.jsonl", "write all tuples to a file that `tuple import` reads"],
    [
      "sallyport tuple export --format csv",
      "print all tuples as CSV, with the columns of OpenFGA's command line",
    ],
  ],
  parse([file], options) {
    const path = file === "-" ? undefined : file
    return {
      file: path,
      format: readFormat(textOf(options, "format") ?? (path === undefined ? "jsonl" : formatOf(path))),
      store: readStore(options),
    }
  },
}

function readFormat(given: string): ExportFormat {
  const format = exportFormats.find((each) => each === given)
  if (format !== undefined) return format
  throw new CliError(`tuples cannot be exported as ${given}`, `Use ${exportFormats.join(" or ")}.`)
}

/**
 * Reads page by page, each at its own revision: tuples that are written or deleted meanwhile may be in the output or not. A file gets its
 * name when it is complete.
 */
export const tupleExport = command(exportLine, async ({ file, format, store }, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, store)
  if (file === undefined) {
    for await (const text of pagesOf(remote, path, format)) io.out(text)
    return exitCode.ok
  }
  const count = await writeFile(io, file, pagesOf(remote, path, format))
  io.out(`exported ${count.toLocaleString("en-US")} tuples to ${file}\n`)
  return exitCode.ok
})

/** Writes beside the file and renames at the end, so that a stopped export leaves the old file as it was. */
async function writeFile(io: Io, file: string, texts: AsyncIterable<string>): Promise<number> {
  const target = resolve(io.cwd, file)
  const part = `${target}.part`
  let lines = 0
  try {
    const stream = createWriteStream(part)
    await once(stream, "open")
    for await (const text of texts) lines += await write(stream, text)
    stream.end()
    await once(stream, "finish")
    renameSync(part, target)
  } catch (error) {
    rmSync(part, { force: true })
    throw error instanceof CliError ? error : new CliError(`${file} cannot be written: ${fileReason(error)}`)
  }
  return file.endsWith(".csv") ? lines - 1 : lines
}

/** Waits when the disk is slower than the engine. Returns the number of lines. */
async function write(stream: WriteStream, text: string): Promise<number> {
  if (!stream.write(text)) await once(stream, "drain")
  return text.split("\n").length - 1
}

interface Page {
  readonly tuples: readonly { readonly key: TupleKey }[]
  readonly continuation_token: string
}

/** All tuples, page by page. 100 is the largest page that OpenFGA's API has. */
async function* pagesOf(remote: Remote, path: string, format: ExportFormat): AsyncGenerator<string> {
  if (format === "csv") yield `${columnNames.join(",")}\n`
  const lineOf = format === "csv" ? csvLine : jsonLine
  let token = ""
  do {
    const body = { page_size: 100, continuation_token: token }
    const page = expectOk<Page>(await remote.request("POST", `${path}/read`, body))
    yield page.tuples.map(({ key }) => lineOf(key)).join("")
    token = page.continuation_token
  } while (token !== "")
}

function jsonLine({ user, relation, object, condition }: TupleKey): string {
  return `${JSON.stringify({ user, relation, object, condition: condition ?? undefined })}\n`
}

/** One field for each of `columnNames`. */
function csvLine({ user, relation, object, condition }: TupleKey): string {
  const [subject = "", userRelation = ""] = user.split("#", 2)
  const context = condition?.context === undefined ? "" : JSON.stringify(condition.context)
  const fields = [
    ...parted(subject),
    userRelation,
    relation,
    ...parted(object),
    condition?.name ?? "",
    context,
  ]
  return `${fields.map(csvField).join(",")}\n`
}

/** Type and id; an id may contain `:`. */
function parted(name: string): readonly [type: string, id: string] {
  const colon = name.indexOf(":")
  return [name.slice(0, colon), name.slice(colon + 1)]
}

/** A field in quotes where RFC 4180 requires them. */
function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
