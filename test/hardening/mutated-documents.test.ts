import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"
import { compile } from "../compile.ts"
import { projectRoot } from "../structure/tree.ts"
import { scaled } from "../support/random-run.ts"

const folder = join(projectRoot, "test/cases/documents")
const texts = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")] as const)
const pieces = [
  "$ref",
  '"#/components/schemas/Pet"',
  "#",
  "{}",
  "[]",
  "null",
  "true",
  "1e999",
  "-1",
  '"*/*"',
  "&a",
  "*a",
  "<<: *a",
  "!!binary x",
  "- ",
  ": ",
  "type",
  "allOf",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "|",
  ">",
  "\n",
  "  ",
  "2.0",
  "%",
  "../",
  "https://x",
  "~1",
  "nullable: true",
  "{id}",
]
const mutation = fc.record({ at: fc.nat(), cut: fc.nat({ max: 30 }), piece: fc.constantFrom(...pieces) })
const numRuns = scaled(20, 0.4)

describe("mutated documents never throw, and what compiles can be provisioned", () => {
  test.each(texts)("%s", (name, text) => {
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
        let mutated = text
        for (const { at, cut, piece } of mutations) {
          const place = at % (mutated.length + 1)
          mutated = mutated.slice(0, place) + piece + mutated.slice(place + cut)
        }
        const conf = `gateway g { listen 127.0.0.1:1 }\napi a { path "/a"; auth none; mock; openapi "${name}" { security none auth none }; validate request; validate response }\n`
        const { plan, diagnostics } = compile(
          new MemoryFiles([
            ["gateway.conf", conf],
            [name, mutated],
          ]),
          "gateway.conf",
        )
        if (plan === undefined) expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true)
        else {
          const schemas = new SchemaSet(plan.plan.schemas)
          while (schemas.compileNext());
        }
      }),
      { numRuns },
    )
  })
})
