import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import { readPlan, readSealedPlan } from "../../runtime/plan/read.ts"
import { compile } from "../compile.ts"
import { scaled } from "../support/random-run.ts"

// What an editor, a merge and a broken disk do to the files of the example: bytes, not words, in all of them at once.

const root = new URL("../../", import.meta.url)
const read = (path: string): Buffer => readFileSync(new URL(path, root))
const names = ["gateway.conf", "models/acme.fga", "models/catalog.openapi.yaml", "models/stock.policy.xml"]
const originals = names.map((name) => [name, read(name)] as const)
const runs = scaled(75, 0.4)

const pieces = [
  ..."{}()\"'\\#;=,<>$[]@*%é\u0000\u0001\ufeff\u2028\u202e",
  "${",
  "<<X\n",
  "\r",
  "\r\n",
  "\n",
  '"""',
  "__proto__",
  "constructor",
  "9".repeat(40),
  "x".repeat(5_000),
  "(".repeat(300),
  "{\n".repeat(70),
  'include "gateway.conf"\n',
  "env(",
  " else ",
  ' matches("(a*)*b")',
]

const edit = fc.record({
  at: fc.nat(20_000),
  cut: fc.oneof(fc.nat(3), fc.nat(200)),
  put: fc.oneof(
    fc.constantFrom(...pieces.keys()).map((index) => ({ piece: index })),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
    fc.nat(20_000),
  ),
})
type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never

/** A number as `put` copies a part of the file from there. Pieces go by number: a counterexample is to fit on a screen. */
function mutate(bytes: Buffer, edits: readonly Edit[]): Buffer {
  return edits.reduce((all, { at, cut, put }) => {
    const start = at % (all.length + 1)
    const from = typeof put === "number" ? put % (all.length + 1) : 0
    const piece =
      typeof put === "number"
        ? all.subarray(from, from + 200)
        : "piece" in put
          ? Buffer.from(pieces[put.piece] ?? "")
          : put
    return Buffer.concat([all.subarray(0, start), piece, all.subarray(start + cut)])
  }, bytes)
}

test("a project of mutated files ends in findings with places, or in a plan", () => {
  const edits = fc.array(edit, { maxLength: 4 })
  fc.assert(
    fc.property(fc.array(edits, { minLength: names.length, maxLength: names.length }), (both) => {
      const files = originals.map(([name, bytes], at) => [name, mutate(bytes, both[at] ?? [])] as const)
      const { plan, diagnostics } = compile(new MemoryFiles(files), "gateway.conf")
      expect(plan === undefined).toBe(diagnostics.some(({ severity }) => severity === "error"))
      for (const { code, span, detail, help, related } of diagnostics) {
        // Only a first file that cannot be read, and one with nothing in it, have no place.
        if (span === undefined) expect(code).toMatch(/^SP(000[1-9]|3021)$/)
        else expect(0 <= span.start && span.start <= span.end && span.end <= span.file.text.length).toBe(true)
        for (const text of [detail, help ?? "", ...related.map(({ message }) => message)]) {
          expect(text.length).toBeLessThan(1_000)
          expect(text).not.toMatch(/\bundefined\b|\[object|NaN/)
        }
      }
      for (const format of ["text", "json", "sarif"] as const)
        renderDiagnostics(diagnostics, format, { colour: false })
    }),
    { numRuns: runs },
  )
})

describe("a mutated plan", () => {
  const { plan } = compile(new MemoryFiles(originals), "gateway.conf")
  if (plan === undefined) throw new Error("the example does not compile")
  const text = JSON.stringify(plan)

  const values = fc.oneof(
    fc.constantFrom(null, true, 0, -1, 1e308, 0.5, "", "__proto__", "x".repeat(2_000), [], {}, [[]]),
    fc.jsonValue(),
  )
  /** A copy with the n-th value, counted in depth, replaced, left out or under another key. */
  const withOther = (json: unknown, place: number, other: unknown, key: string | undefined): unknown => {
    let left = place
    const walk = (value: unknown): unknown => {
      if (left-- === 0) return other
      if (Array.isArray(value)) return value.map(walk)
      if (typeof value !== "object" || value === null) return value
      const entries = Object.entries(value).map(([name, item]) => {
        const renamed = left === 0 && key !== undefined ? key : name
        return `${JSON.stringify(renamed)}:${JSON.stringify(walk(item)) ?? "null"}`
      })
      return JSON.parse(`{${entries.join(",")}}`)
    }
    return walk(json)
  }
  const size = [...text.matchAll(/[[{,]/g)].length

  test("is refused with places, or is a plan that can be read again", () => {
    const keys = fc.option(fc.constantFrom("__proto__", "constructor", "x", "kind", ""), { nil: undefined })
    fc.assert(
      fc.property(fc.nat(size), values, keys, fc.boolean(), (place, other, key, sealed) => {
        const changed = withOther(plan, place, other, key) as { plan: unknown; digest: unknown }
        // With the digest made good again it is the schema and the references that have to see it.
        if (sealed && typeof changed === "object" && changed !== null && "plan" in changed)
          changed.digest = digestOf(changed.plan)
        const outcome = readPlan(changed)
        if ("plan" in outcome) {
          expect(readPlan(JSON.parse(JSON.stringify(outcome.plan)))).toEqual(outcome)
          expect(JSON.parse(JSON.stringify(outcome.plan))).toEqual(changed)
        } else {
          expect(outcome.problems.length).toBeGreaterThan(0)
          for (const { path, message } of outcome.problems) {
            expect(path.length + message.length).toBeLessThan(2_000)
            expect(message).not.toMatch(/undefined|\[object|Invalid input/)
          }
        }
        expect(
          "problems" in
            readSealedPlan({
              sealed: 3,
              plan: changed,
              seal: sealOf(changed),
              checksum: digestOf(sealOf(changed)),
            }),
        ).toBe("problems" in outcome)
      }),
      { numRuns: runs },
    )
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined()
  })
})

/** The seal of what may be no plan. */
function sealOf(changed: unknown): unknown {
  const { digest = null } =
    typeof changed === "object" && changed !== null ? (changed as { digest?: unknown }) : {}
  const author = { who: "ann", commit: null, message: null }
  return { history: null, base: null, digest, author, at: "2026-01-02T03:04:05.678Z" }
}
