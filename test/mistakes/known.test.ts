import { expect, test } from "vitest"
import { compileAndTest } from "../../compiler/compile.ts"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { type Example, examples } from "./projects.ts"

const [small, middle, large] = examples as readonly [Example, Example, Example]

/** Mistakes that were reported badly once: what was written in a file, what is written instead, and the first finding. */
const known: readonly {
  readonly what: string
  readonly example: Example
  readonly file: string
  readonly written: string
  readonly instead: string
  readonly code: string
  /** Where the finding begins. */
  readonly at: string
  readonly remedy: RegExp
  /** How many findings are right (default: 1). */
  readonly findings?: number
}[] = [
  {
    what: "an unclosed brace in a large project",
    example: large,
    file: "gateway.conf",
    written: '    headers "X-Request-Id"\n    max-age 10m\n  }',
    instead: '    headers "X-Request-Id"\n    max-age 10m\n',
    code: "SP1001",
    at: "{\n",
    remedy: /`}`/,
  },
  {
    what: "a tab in YAML",
    example: middle,
    file: "models/catalog.openapi.yaml",
    written: "  /items:",
    instead: "\t/items:",
    code: "SP8002",
    at: "\t/items:",
    remedy: /spaces/,
  },
  {
    what: "authentication that is missing, before what is unused without it",
    example: small,
    file: "gateway.conf",
    written: "  auth    jwt users\n",
    instead: "",
    code: "SP3004",
    at: "orgs",
    remedy: /`auth none`/,
  },
  {
    what: "an origin with a slash at its end",
    example: large,
    file: "gateway.conf",
    written: '"https://team7.acme.example"',
    instead: '"https://team7.acme.example/"',
    code: "SP2039",
    at: '"https://team7.acme.example/"',
    remedy: /Remove the `\/`/,
  },
  {
    what: "an unknown method",
    example: middle,
    file: "models/teams/status.conf",
    written: "GET",
    instead: "GETS",
    code: "SP2001",
    at: "GETS",
    remedy: /`GET`/,
  },
  {
    what: "a time to connect above the total",
    example: middle,
    file: "gateway.conf",
    written: "timeout connect 1s total 5s",
    instead: "timeout connect 10s total 5s",
    code: "SP2042",
    at: "10s total 5s",
    remedy: /total/,
  },
]

test.each(known)(
  "$what is one finding, at its place",
  async ({ example, file, written, instead, ...wanted }) => {
    const text = example.files.get(file) as string
    expect(text).toContain(written)
    const files = new Map(example.files).set(
      file,
      text.replace(written, () => instead),
    )
    const { diagnostics } = await compileAndTest(new MemoryFiles(files), "gateway.conf")
    const first = diagnostics[0] as Diagnostic
    expect([first.code, first.span?.file.path]).toEqual([wanted.code, file])
    expect(first.span?.file.text.slice(first.span.start).startsWith(wanted.at), first.detail).toBe(true)
    expect(`${first.detail}\n${first.help}`).toMatch(wanted.remedy)
    expect(diagnostics.map(({ code }) => code)).toHaveLength(wanted.findings ?? 1)
  },
)
