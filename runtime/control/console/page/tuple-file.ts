import type { TupleKey } from "../../../check/ports.ts"

/** A tuple of a file, or the mistake in its place. `line`: where it begins, or its number in a JSON list. */
export type FileTuple =
  | { readonly line: number; readonly tuple: TupleKey }
  | { readonly line: number; readonly problem: string }

/** Formats of files of tuples that a browser reads. */
const tupleFileFormats = ["jsonl", "csv", "json"] as const
export type TupleFileFormat = (typeof tupleFileFormats)[number]

/** The format of a file by its ending; undefined: another one. */
export function formatOfFile(name: string): TupleFileFormat | undefined {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  return ending === "ndjson" ? "jsonl" : tupleFileFormats.find((each) => each === ending)
}

/**
 * The tuples of a file: JSON lines, a JSON list, or CSV with the columns of OpenFGA's command line (`user_type`, `user_id`, `user_relation`, `relation`,
 * `object_type`, `object_id`, `condition_name`, `condition_context`).
 * @throws Error when the file as a whole cannot be read
 */
export function* tuplesOfFile(text: string, format: TupleFileFormat): Generator<FileTuple> {
  if (format === "jsonl") {
    for (const [at, line] of text.split("\n").entries())
      if (line.trim() !== "") yield { line: at + 1, ...parsed(() => tupleOf(JSON.parse(line))) }
  } else if (format === "json") {
    for (const [at, item] of listOf(text).entries()) yield { line: at + 1, ...parsed(() => tupleOf(item)) }
  } else yield* ofTable(text)
}

type Parsed = { readonly tuple: TupleKey } | { readonly problem: string }

function parsed(read: () => TupleKey): Parsed {
  try {
    return { tuple: read() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function listOf(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text)
  const fields = value as { readonly tuples?: unknown; readonly tuple_keys?: unknown } | null
  const list = Array.isArray(value) ? value : (fields?.tuples ?? fields?.tuple_keys)
  if (!Array.isArray(list)) throw new Error("The file is not a JSON list of tuples.")
  return list
}

function tupleOf(value: unknown): TupleKey {
  if (typeof value !== "object" || value === null) throw new Error("it is not a JSON object")
  const own = value as Readonly<Record<string, unknown>>
  const fields = typeof own["key"] === "object" && own["key"] !== null ? (own["key"] as typeof own) : own
  const { user, relation, object, condition } = fields
  for (const [name, each] of Object.entries({ user, relation, object }))
    if (typeof each !== "string" || each === "") throw new Error(`\`${name}\` is missing`)
  return {
    ...{ user: user as string, relation: relation as string, object: object as string },
    ...(condition ? { condition: condition as NonNullable<TupleKey["condition"]> } : {}),
  }
}

function* ofTable(text: string): Generator<FileTuple> {
  const records = recordsOf(text)
  const first = records.next()
  const head = first.done ? undefined : first.value.fields.map((each) => each.trim())
  const needed = ["user_type", "user_id", "relation", "object_type", "object_id"]
  const missing = needed.filter((name) => !head?.includes(name))
  if (head === undefined || missing.length > 0)
    throw new Error(`The first line of the file lacks the columns ${missing.join(", ")}.`)
  for (const { line, fields } of records) {
    if (fields.length === 1 && fields[0]?.trim() === "") continue
    const of = (name: string) => fields[head.indexOf(name)]?.trim() ?? ""
    yield {
      line,
      ...parsed(() => {
        if (fields.length !== head.length)
          throw new Error(`it has ${fields.length} columns, and the first line ${head.length}`)
        const set = of("user_relation")
        const condition = of("condition_name")
        const context = of("condition_context")
        return tupleOf({
          user: `${of("user_type")}:${of("user_id")}${set === "" ? "" : `#${set}`}`,
          relation: of("relation"),
          object: `${of("object_type")}:${of("object_id")}`,
          ...(condition === ""
            ? {}
            : {
                condition: { name: condition, ...(context === "" ? {} : { context: JSON.parse(context) }) },
              }),
        })
      }),
    }
  }
}

/** Records of CSV (RFC 4180): fields in quotes may have commas, line ends, and two quotes for one. */
function* recordsOf(
  text: string,
): Generator<{ readonly line: number; readonly fields: readonly string[] }, void> {
  const pattern = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y
  let fields: string[] = []
  let [line, start] = [1, 1]
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex
    const [whole, field = "", end] = pattern.exec(text) ?? []
    if (whole === undefined) throw new Error(`Line ${line} has a quote in the wrong place.`)
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field)
    line += text.slice(at, pattern.lastIndex).split("\n").length - 1
    if (end === ",") continue
    yield { line: start, fields }
    fields = []
    start = line
  }
  if (fields.length > 0) yield { line: start, fields }
}
