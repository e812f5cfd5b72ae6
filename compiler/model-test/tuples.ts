import type { TupleKey } from "../../runtime/check/ports.ts"
import type { Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { type CsvField, readCsv } from "./csv.ts"
import type { PlacedTuple } from "./suite.ts"
import { YamlReader, type YamlValue } from "./yaml-reader.ts"

/** The tuples of a list in YAML. */
export function readTuples(reader: YamlReader, value: YamlValue | undefined, report: Report): PlacedTuple[] {
  return reader.list(value, "`tuples`").flatMap((item) => {
    const tuple = readTuple(reader, item, report)
    return tuple === undefined ? [] : [tuple]
  })
}

/**
 * The tuples of a file. The ending of its name selects the format: YAML and JSON lists, JSON lines, CSV (the formats of OpenFGA's command
 * line). `at` is the place that names the file.
 */
export function readTupleFile(file: SourceFile, at: Span, report: Report): PlacedTuple[] {
  const ending = /\.[^./]*$/.exec(file.path)?.[0].toLowerCase() ?? ""
  const read = formats.get(ending)
  if (read === undefined) {
    const what = ending === "" ? "has no ending" : `ends in \`${shown(ending)}\``
    report.add("SP6011", at, `\`${shown(file.path)}\` ${what}, so its format is unknown`)
    return []
  }
  const mistakes = report.errors
  const tuples = read(file, report)
  if (tuples.length === 0 && report.errors === mistakes)
    report.add("SP6011", at, `\`${shown(file.path)}\` contains no tuple`)
  return tuples
}

type ReadFormat = (file: SourceFile, report: Report) => PlacedTuple[]

const readYaml: ReadFormat = (file, report) => {
  const tuples: PlacedTuple[] = []
  const reader = new YamlReader(file, report)
  reader.eachDocument((value) => tuples.push(...readTuples(reader, value, report)))
  return tuples
}

/** Reads each line separately, with its place in the file. */
const readJsonLines: ReadFormat = (file, report) => {
  const tuples: PlacedTuple[] = []
  let start = 0
  for (const line of file.text.split("\n")) {
    const reader = new YamlReader(file, report, file.span(start, start + line.length))
    start += line.length + 1
    reader.eachDocument((value) => {
      const tuple = readTuple(reader, value, report)
      if (tuple !== undefined) tuples.push(tuple)
    })
  }
  return tuples
}

/** CSV with the columns of OpenFGA's command line. */
const readTable: ReadFormat = (file, report) => {
  const { records, mistake } = readCsv(file)
  if (mistake !== undefined) report.add("SP6011", mistake.span, mistake.detail)
  const [head, ...rows] = records
  const columns = head === undefined ? undefined : columnsOf(head, report)
  if (head === undefined || columns === undefined) return []
  return rows.flatMap((row) => {
    if (row.length === head.length) return tupleOfRow(row, columns, report)
    const detail = `this line has ${row.length} fields, the first one has ${head.length}`
    report.add("SP6011", spanOf(row), detail)
    return []
  })
}

const formats: ReadonlyMap<string, ReadFormat> = new Map([
  [".yaml", readYaml],
  [".yml", readYaml],
  [".json", readYaml],
  [".jsonl", readJsonLines],
  [".csv", readTable],
])

/** A tuple of YAML or JSON. */
function readTuple(reader: YamlReader, value: YamlValue, report: Report): PlacedTuple | undefined {
  const entries = reader.entries(value, "a tuple", ["user", "relation", "object", "condition"])
  if (entries === undefined) return undefined
  const given = (name: string): YamlValue | undefined => entries.find((each) => each.name === name)?.value
  const field = (name: string): string | undefined => {
    const found = given(name)
    const text = reader.text(found, `\`${name}\``)
    const isMissing = text === undefined && (found === undefined || reader.isEmpty(found))
    if (isMissing && !reader.misspells(value, name))
      report.add("SP6004", found?.span ?? value.span, `this tuple has no \`${name}\``)
    return text
  }
  const [user, relation, object] = [field("user"), field("relation"), field("object")]
  const condition = readCondition(reader, given("condition"), report)
  if (user === undefined || relation === undefined || object === undefined) return undefined
  const places = {
    user: given("user")?.span,
    relation: given("relation")?.span,
    object: given("object")?.span,
  }
  const key = { user, relation, object, ...(condition === undefined ? {} : { condition }) }
  return { key, span: value.span, places }
}

/** A condition with its context. */
function readCondition(
  reader: YamlReader,
  value: YamlValue | undefined,
  report: Report,
): TupleKey["condition"] {
  if (value === undefined) return undefined
  const entries = reader.entries(value, "`condition`", ["name", "context"])
  if (entries === undefined) return undefined
  const name = reader.text(entries.find((each) => each.name === "name")?.value, "`name`")
  const context = reader.json(entries.find((each) => each.name === "context")?.value, "`context`")
  if (name === undefined || name === "") {
    report.add("SP6004", value.span, "this condition has no `name`")
    return undefined
  }
  return { name, ...(context === undefined ? {} : { context }) }
}

/** The columns of a CSV file of tuples, as in OpenFGA's command line. */
export const columnNames = [
  "user_type",
  "user_id",
  "user_relation",
  "relation",
  "object_type",
  "object_id",
  "condition_name",
  "condition_context",
] as const
type Column = (typeof columnNames)[number]
const neededColumns: readonly Column[] = ["user_type", "user_id", "relation", "object_type", "object_id"]

/** The position of each column. Undefined, with findings, when the header is invalid. */
function columnsOf(head: readonly CsvField[], report: Report): ReadonlyMap<Column, number> | undefined {
  const mistakes = report.errors
  const columns = new Map<Column, number>()
  head.forEach(({ text, span }, index) => {
    const name = columnNames.find((each) => each === text.trim())
    if (name === undefined)
      report.add("SP6011", span, `\`${shown(text)}\` is not a column${didYouMean(text.trim(), columnNames)}`)
    else if (columns.has(name)) report.add("SP6011", span, `the column \`${name}\` occurs twice`)
    else columns.set(name, index)
  })
  const missing = neededColumns.filter((name) => !columns.has(name))
  if (columns.has("condition_context") && !columns.has("condition_name")) missing.push("condition_name")
  for (const name of missing) report.add("SP6011", spanOf(head), `the column \`${name}\` is missing`)
  return report.errors === mistakes ? columns : undefined
}

/** A row of CSV. The parts of user and object are columns of their own. */
function tupleOfRow(
  row: readonly CsvField[],
  columns: ReadonlyMap<Column, number>,
  report: Report,
): PlacedTuple[] {
  const field = (name: Column): CsvField | undefined => row[columns.get(name) ?? -1]
  const text = (name: Column): string => field(name)?.text ?? ""
  const user = `${text("user_type")}:${text("user_id")}`
  const set = text("user_relation")
  const key: TupleKey = {
    user: set === "" ? user : `${user}#${set}`,
    relation: text("relation"),
    object: `${text("object_type")}:${text("object_id")}`,
  }
  const span = spanOf(row)
  const name = text("condition_name")
  if (name === "") return [{ key, span }]
  const json = field("condition_context")
  const context = json === undefined || json.text.trim() === "" ? undefined : contextOf(json, report)
  return [{ key: { ...key, condition: { name, ...(context === undefined ? {} : { context }) } }, span }]
}

/** The context of a row is one JSON object in one column. */
function contextOf({ text, span }: CsvField, report: Report): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === "object" && json !== null && !Array.isArray(json))
      return json as Record<string, unknown>
  } catch {
    // Reported below.
  }
  report.add("SP6011", span, "the context of a condition must be a JSON object")
  return undefined
}

function spanOf(row: readonly CsvField[]): Span {
  const [first] = row as [CsvField, ...CsvField[]]
  return first.span.file.span(first.span.start, row.at(-1)?.span.end ?? first.span.end)
}
