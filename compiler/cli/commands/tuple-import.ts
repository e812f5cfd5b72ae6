import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { readCount, readFormat, readStore, storeOption, textOf } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { storePath } from "../store.ts"
import { formatOf, type TupleBatch, type TupleFormat, tupleBatches, tupleFormats } from "../tuple-batches.ts"

interface ImportArgs {
  readonly file: string
  readonly format: TupleFormat
  readonly fromLine: number
  readonly store: string | undefined
  /** Of the result; `format` is that of the file. */
  readonly output: "text" | "json"
}

/** While the database commits one batch, the engine reads the next one. */
const underWayMax = 3
const showEveryMs = 200

const importLine: CommandLine<ImportArgs> = {
  operands: [["<file>", "a file of tuples; `-`: JSON lines from standard input"]],
  options: [
    storeOption,
    [
      "--format <format>",
      "jsonl, csv or yaml (default: by the ending of the file; .json is a JSON list, which yaml reads)",
    ],
    ["--from-line <line>", "skip what comes before this line, to resume an import that stopped"],
    ["--json", "print the result as JSON"],
  ],
  examples: [
    ["sallyport tuple import tuples.csv", "write all tuples of a CSV file; those that exist are skipped"],
    [
      "sallyport tuple import - --store docs < tuples.jsonl",
      "read JSON lines from a pipe, for example from another system",
    ],
  ],
  parse([file], options) {
    if (file === undefined)
      throw new CliError("tuple import needs a file", "Name a file of tuples, or `-` for standard input.")
    return {
      file,
      format: readFormat({ format: textOf(options, "format") ?? formatOf(file) }, tupleFormats),
      fromLine: readCount(textOf(options, "fromLine") ?? "1", "--from-line"),
      store: readStore(options),
      output: options["json"] === true ? "json" : "text",
    }
  },
}

/** Tuples that exist are skipped, so an import can be repeated. */
export const tupleImport = command(importLine, async (args, io) => {
  const remote = await connect(io)
  const path = await storePath(remote, args.store)
  const progress = new ImportProgress(io)
  try {
    await sendAll(io, remote, `${path}/bulk-write`, args, progress)
  } finally {
    progress.end()
  }
  print(io, args.output, progress.result(), () => progress.summary())
  return exitCode.ok
})

/** Sends a few batches at a time; after a failure no more, and the error names the line to resume from. */
async function sendAll(
  io: Io,
  remote: Remote,
  path: string,
  { file, format, fromLine }: ImportArgs,
  progress: ImportProgress,
): Promise<void> {
  const underWay: { readonly batch: TupleBatch; readonly sent: Promise<unknown> }[] = []
  let doneLine = fromLine - 1
  let error: unknown
  // In order of sending, so that `doneLine` never skips a batch that failed.
  const settle = async () => {
    const first = underWay.shift()
    if (first === undefined) return
    const failure = await first.sent.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    // Later batches may have been written. To write them again does no harm.
    if (failure !== undefined) error ??= placed(failure, file, first.batch)
    else if (error === undefined) doneLine = first.batch.lastLine
  }
  try {
    for await (const batch of tupleBatches(io, file, format, fromLine)) {
      if (underWay.length === underWayMax) await settle()
      if (error !== undefined) break
      const sent = send(remote, path, batch, progress)
      // The promise is awaited later in `settle`; without a handler, Node would end the process for a rejection until then.
      sent.catch(() => undefined)
      underWay.push({ batch, sent })
    }
  } catch (reason) {
    error ??= reason
  }
  // Also after an error: batches under way may still be written, and their progress belongs to the summary.
  while (underWay.length > 0) await settle()
  if (error !== undefined) throw resumable(error, progress, file, doneLine)
}

/** One batch is one transaction of the engine. */
async function send(
  remote: Remote,
  path: string,
  batch: TupleBatch,
  progress: ImportProgress,
): Promise<void> {
  const answer = await remote.request("POST", path, batch.lines)
  const { written, existing } = expectOk<{ written: number; existing: number }>(answer)
  progress.add(written, existing)
}

/** The engine counts lines within the batch. */
function placed(error: unknown, file: string, batch: TupleBatch): unknown {
  if (!(error instanceof CliError)) return error
  const [, line, message] = /^line (\d+): ([\s\S]*)$/.exec(error.message) ?? []
  if (line === undefined) return error
  return new CliError(`${file}:${batch.lineOf(Number(line))}: ${message}`, error.help, error.code)
}

function resumable(error: unknown, { tuples }: ImportProgress, file: string, doneLine: number): unknown {
  // When nothing was written, repeating the whole command is simpler than any line number.
  if (!(error instanceof CliError) || tuples === 0) return error
  const resume = `The lines up to ${doneLine} are imported. To continue: \`sallyport tuple import ${file} --from-line ${doneLine + 1}\`. Tuples that exist are skipped.`
  const help = error.help === undefined ? resume : `${error.help} ${resume}`
  return new CliError(error.message, help, error.code)
}

/** Counts, and shows the count and the rate on a terminal. */
class ImportProgress {
  readonly #io: Io
  readonly #startMs = performance.now()
  #written = 0
  #existing = 0
  #shownMs = 0
  #shown = false

  constructor(io: Io) {
    this.#io = io
  }

  get tuples(): number {
    return this.#written + this.#existing
  }

  /** Shows progress at most every `showEveryMs`, and only on a terminal. */
  add(written: number, existing: number): void {
    this.#written += written
    this.#existing += existing
    const nowMs = performance.now()
    if (!this.#io.progress || nowMs - this.#shownMs < showEveryMs) return
    this.#shownMs = nowMs
    this.#shown = true
    // `CR` and "erase line": the count replaces itself on a terminal.
    this.#io.err(`\r\u001b[2K${grouped(this.tuples)} tuples, ${this.#rate()}`)
  }

  end(): void {
    if (this.#shown) this.#io.err("\r\u001b[2K")
  }

  result(): { readonly written: number; readonly existing: number } {
    return { written: this.#written, existing: this.#existing }
  }

  summary(): string {
    const seconds = ((performance.now() - this.#startMs) / 1_000).toFixed(1)
    return `imported ${grouped(this.#written)} tuples in ${seconds} s, ${this.#rate()}; ${grouped(this.#existing)} existed already\n`
  }

  #rate(): string {
    // A small file is imported in less than the clock's resolution; no division by zero.
    const seconds = Math.max(0.001, (performance.now() - this.#startMs) / 1_000)
    return `${grouped(Math.round(this.tuples / seconds))} per second`
  }
}

function grouped(count: number): string {
  return count.toLocaleString("en-US")
}
