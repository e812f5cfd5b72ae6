import { createReadStream } from "node:fs"
import { resolve } from "node:path"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { fileReason } from "../../runtime/plan/file-reason.ts"
import { Report } from "../core/diagnostic.ts"
import { SourceFile } from "../core/source.ts"
import { readTupleFile } from "../model-test/tuples.ts"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/** Tuples of a file, as lines of JSON for the engine. Half of a body's default limit, so that one request is short. */
export interface TupleBatch {
  readonly lines: Buffer
  /** Number of tuples; empty lines of a JSON lines file count too. */
  readonly count: number
  /** The line of the file in which the n-th line of the batch (from 1) begins. */
  lineOf(n: number): number
  /** The last line of the file that the batch covers. */
  readonly lastLine: number
}

/** Formats of tuple files. */
export const tupleFormats = ["jsonl", "csv", "yaml"] as const
export type TupleFormat = (typeof tupleFormats)[number]

const tuplesMax = 5_000
const bytesMax = 300_000
/** A YAML file is read whole. */
const yamlBytesMax = 64 * 1024 * 1024
const lineEnd = 10
const endings: ReadonlyMap<string, TupleFormat> = new Map([
  ["jsonl", "jsonl"],
  ["ndjson", "jsonl"],
  ["csv", "csv"],
  ["yaml", "yaml"],
  ["yml", "yaml"],
  ["json", "yaml"],
])

/**
 * The format of a file by its ending; standard input (`-`) is JSON lines.
 * @throws CliError for other endings
 */
export function formatOf(path: string): TupleFormat {
  if (path === "-") return "jsonl"
  const format = endings.get(/\.([^./]*)$/.exec(path)?.[1]?.toLowerCase() ?? "")
  if (format !== undefined) return format
  throw new CliError(
    `the format of ${path} is not known by its ending`,
    "Use .jsonl, .csv, .yaml or .json, or name the format with --format.",
  )
}

/**
 * The tuples of a file in batches; `-` is standard input. Only a YAML or JSON list is read whole.
 * @throws CliError with the place when the file cannot be read or has a mistake
 */
export async function* tupleBatches(
  io: Io,
  path: string,
  format: TupleFormat,
  fromLine: number,
): AsyncGenerator<TupleBatch> {
  const pieces = readPieces(io, path)
  if (format === "jsonl") yield* batchesOfLines(pieces, fromLine)
  else if (format === "csv") yield* batchesOfTable(path, pieces, fromLine)
  else {
    const text = await wholeText(path, pieces)
    const placed = tuplesIn(new SourceFile(asYaml(path), text), path, 0)
    yield* batchesOf(placed.filter(({ line }) => line >= fromLine))
  }
}

/** The reader chooses by the ending. A JSON list is YAML too. */
function asYaml(path: string): string {
  return /\.(ya?ml|json)$/i.test(path) ? path : `${path}.yaml`
}

/** Pieces of a file or of standard input, in the size that is read from the disk at once. */
async function* readPieces(io: Io, path: string): AsyncGenerator<Buffer> {
  const stream =
    path === "-" ? io.bytes() : createReadStream(resolve(io.cwd, path), { highWaterMark: 1 << 18 })
  try {
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${fileReason(error)}`)
  }
}

/** A YAML or JSON list is read whole, because a list can be parsed only at its end. */
async function wholeText(path: string, pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > yamlBytesMax)
      throw new CliError(
        `${path} is larger than 64 MB, and a YAML or JSON list is read whole`,
        "Write the tuples as CSV or as JSON lines, which are read line by line.",
      )
    all.push(piece)
  }
  return Buffer.concat(all).toString("utf8")
}

/** JSON lines are sent as they are: the engine reads them and names the line of a mistake. */
async function* batchesOfLines(pieces: AsyncIterable<Buffer>, fromLine: number): AsyncGenerator<TupleBatch> {
  let rest: Buffer = Buffer.alloc(0)
  let firstLine = 1
  const batch = (lines: Buffer, count: number): TupleBatch => {
    const first = firstLine
    firstLine += count
    return { lines, count, lineOf: (n) => first + n - 1, lastLine: first + count - 1 }
  }
  const whole = function* (last: boolean): Generator<TupleBatch> {
    for (let cut = cutOf(rest, last); cut !== undefined; cut = cutOf(rest, last)) {
      const made = batch(rest.subarray(0, cut.bytes), cut.lines)
      rest = rest.subarray(cut.bytes)
      if (made.lastLine >= fromLine) yield made
    }
  }
  for await (const piece of pieces) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    yield* whole(false)
  }
  yield* whole(true)
}

/** Whole lines for one batch; undefined when more must be read first. `last`: nothing more comes. */
function cutOf(bytes: Buffer, last: boolean): { bytes: number; lines: number } | undefined {
  let end = 0
  let lines = 0
  while (lines < tuplesMax) {
    const found = bytes.indexOf(lineEnd, end)
    const next = found === -1 ? bytes.length : found + 1
    if (found === -1 && (!last || next === end)) break
    if (lines > 0 && next > bytesMax) return { bytes: end, lines }
    end = next
    lines += 1
  }
  if (lines === 0) return undefined
  return last || lines === tuplesMax ? { bytes: end, lines } : undefined
}

/** A tuple of a file that is not JSON lines. */
interface Placed {
  readonly key: TupleKey
  readonly line: number
}

/** CSV is read in blocks of whole records; each block gets the file's first line as its head. */
async function* batchesOfTable(
  path: string,
  pieces: AsyncIterable<Buffer>,
  fromLine: number,
): AsyncGenerator<TupleBatch> {
  const decoder = new TextDecoder("utf-8")
  let head: string | undefined
  let rest = ""
  let line = 1
  const read = function* (block: string): Generator<TupleBatch> {
    if (block.trim() === "") return
    const placed = tuplesIn(new SourceFile("tuples.csv", `${head}\n${block}`), path, line - 2)
    line += block.split("\n").length - 1
    yield* batchesOf(placed.filter((each) => each.line >= fromLine))
  }
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true })
    if (head === undefined) {
      const end = rest.indexOf("\n")
      if (end === -1) continue
      head = rest.slice(0, end).replace(/\r$/, "")
      rest = rest.slice(end + 1)
      line = 2
    }
    const end = endOfRecords(rest)
    if (end === 0) continue
    yield* read(rest.slice(0, end))
    rest = rest.slice(end)
  }
  rest += decoder.decode()
  if (head === undefined) head = rest
  else if (rest !== "") yield* read(rest)
}

/** The offset after the last line end that is not inside quotes; 0 when there is none. */
function endOfRecords(text: string): number {
  let end = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) quoted = !quoted
    else if (code === lineEnd && !quoted) end = at + 1
  }
  return end
}

/** The tuples of a piece. `lineOffset`: the lines before it, so that findings name the line of the file. */
function tuplesIn(file: SourceFile, path: string, lineOffset: number): readonly Placed[] {
  const report = new Report()
  const tuples = readTupleFile(file, file.span(0, 0), report)
  const mistake = report.sorted().find(({ severity }) => severity === "error")
  if (mistake !== undefined) {
    const line = mistake.span === undefined ? 1 : file.position(mistake.span.start).line + lineOffset
    throw new CliError(`${path}:${Math.max(1, line)}: ${mistake.detail}`, mistake.help)
  }
  return tuples.map(({ key, span }) => ({ key, line: file.position(span.start).line + lineOffset }))
}

/** Batches of at most so many tuples and bytes as the engine takes in one request. */
function* batchesOf(placed: readonly Placed[]): Generator<TupleBatch> {
  let lines: string[] = []
  let places: number[] = []
  let bytes = 0
  const batch = (): TupleBatch => {
    const own = places
    const made = {
      lines: Buffer.from(`${lines.join("\n")}\n`),
      count: own.length,
      lineOf: (n: number) => own[n - 1] ?? own.at(-1) ?? 1,
      lastLine: own.at(-1) ?? 1,
    }
    lines = []
    places = []
    bytes = 0
    return made
  }
  for (const { key, line } of placed) {
    const text = JSON.stringify(key)
    if (lines.length > 0 && (lines.length === tuplesMax || bytes + text.length > bytesMax)) yield batch()
    lines.push(text)
    places.push(line)
    bytes += Buffer.byteLength(text) + 1
  }
  if (lines.length > 0) yield batch()
}
