import { stringify } from "yaml"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"
import { compile } from "../compile.ts"

// A document of a megabyte with validation both ways: read and compiled; its schemas compiled, in slices.
const runs = 5

function document(): object {
  const paths: Record<string, object> = {}
  const schemas: Record<string, object> = {}
  for (let index = 0; index < 600; index += 1) {
    const name = `Thing${index}`
    const reference = { $ref: `#/components/schemas/${name}` }
    const content = {
      "application/json": { schema: reference, example: { id: index, name: `thing ${index}` } },
    }
    schemas[name] = {
      type: "object",
      description: `What thing ${index} is, at some length, as people write it who want others to understand what it is for.`,
      required: ["id", "name"],
      additionalProperties: false,
      properties: {
        id: { type: "integer", format: "int64", readOnly: true },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
          pattern: "^[^<>]+$",
          description: "What it is called.",
        },
        state: { type: "string", enum: ["new", "open", "done", "gone"] },
        next: { $ref: `#/components/schemas/Thing${(index * 7 + 1) % 600}` },
        tags: { type: "array", maxItems: 50, uniqueItems: true, items: { type: "string" } },
        at: { type: "string", format: "date-time" },
      },
    }
    const parameters = [
      { name: "id", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
      { name: "fields", in: "query", explode: false, schema: { type: "array", items: { type: "string" } } },
    ]
    const responses = {
      "200": { description: "The thing.", content },
      "404": { description: "No such thing." },
    }
    paths[`/things${index}/{id}`] = {
      get: { operationId: `get${name}`, summary: `Read thing ${index}`, parameters, responses },
      put: { operationId: `put${name}`, parameters, requestBody: { required: true, content }, responses },
    }
  }
  return { openapi: "3.0.3", info: { title: "Things", version: "1" }, paths, components: { schemas } }
}

const conf = (file: string): string => `gateway g { listen 127.0.0.1:8000 }
api things { path "/t"; auth none; backend "http://127.0.0.1:9001"; openapi "${file}"; validate request; validate response }
`
const text = JSON.stringify(document())
console.error(`${text.length} bytes`)
let plan: ReturnType<typeof compile>["plan"]
for (const [file, written] of [
  ["things.json", text],
  ["things.yaml", stringify(document(), { aliasDuplicateObjects: false })],
] as const) {
  const compiling: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now()
    plan = compile(
      new MemoryFiles([
        ["gateway.conf", conf(file)],
        [file, written],
      ]),
      "gateway.conf",
    ).plan
    compiling.push(performance.now() - start)
  }
  const format = file.endsWith("json") ? "JSON" : "YAML"
  report(`import and compile an OpenAPI document of 1 MB, ${format}`, compiling, 2000)
}
if (plan === undefined) throw new Error("the document does not compile")

const schemas = new SchemaSet(plan.plan.schemas)
const slices: number[] = []
for (let more = true; more; ) {
  // Of the processor, so that others on the machine do not count.
  const start = process.cpuUsage()
  more = schemas.compileNext()
  const { user, system } = process.cpuUsage(start)
  slices.push((user + system) / 1000)
}
const longest = Math.max(...slices)
console.log(
  JSON.stringify({
    what: "longest slice of its schemas' compilation",
    value: longest.toFixed(1),
    unit: "ms",
    bar: "≤ 20",
    ok: longest <= 20,
  }),
)
console.error(`${slices.length - 1} schemas in ${slices.reduce((sum, each) => sum + each, 0).toFixed(0)} ms`)

function report(what: string, times: readonly number[], barMs: number): void {
  const sorted = [...times].sort((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] as number
  const spread = `${sorted[0]?.toFixed(0)}–${sorted.at(-1)?.toFixed(0)}`
  console.log(
    JSON.stringify({
      what,
      value: median.toFixed(0),
      unit: "ms",
      spread,
      bar: `≤ ${barMs}`,
      ok: median <= barMs,
    }),
  )
}
