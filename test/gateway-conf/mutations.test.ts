import fc from "fast-check"
import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { compile } from "../compile.ts"
import { isLong, scaled } from "../support/random-run.ts"
import { sampleDeclarations, sampleModel } from "./sample.ts"

const words = sampleDeclarations.join("\n").split(/(?<=[ \n;{}"])|(?=[ \n;{}"])/)

/** What people and generators do to a file: words left out, twice, exchanged, misspelt, replaced. */
const mutation = fc.record({
  at: fc.nat(words.length - 1),
  with: fc.nat(words.length - 1),
  kind: fc.constantFrom("drop", "twice", "swap", "misspell", "replace", "strange"),
  strange: fc.constantFrom("${", "}", "(", '"', "<<X", "é", "99999999999999999999", "__proto__", "#", "= ="),
})

function mutate(
  list: string[],
  { at, with: other, kind, strange }: typeof mutation extends fc.Arbitrary<infer M> ? M : never,
) {
  const here = list[at] ?? ""
  const there = list[other] ?? ""
  if (kind === "drop") list[at] = ""
  else if (kind === "twice") list[at] = here + here
  else if (kind === "misspell") list[at] = here.slice(1) + here.slice(0, 1)
  else if (kind === "strange") list[at] = strange
  else {
    list[at] = there
    if (kind === "swap") list[other] = here
  }
}

// What is thrown here is a plan that its own reader refuses, or worse.
test("whatever the text, there are findings or a plan, and findings have places", () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const list = [...words]
      for (const each of mutations) mutate(list, each)
      const files = new MemoryFiles([
        ["gateway.conf", list.join("")],
        ["acme.fga", sampleModel],
      ])
      const { plan, diagnostics } = compile(files, "gateway.conf")
      const blocked = diagnostics.some(({ severity }) => severity === "error")
      expect(plan === undefined).toBe(blocked)
      expect(() => renderDiagnostics(diagnostics, "text", { colour: false })).not.toThrow()
      for (const { span } of diagnostics)
        if (span !== undefined) expect(span.start).toBeLessThanOrEqual(span.end)
    }),
    { numRuns: scaled(75, 0.4) },
  )
})

/** A word with one letter gone and another one more. */
function misspelt(word: string): string {
  return `${word.slice(0, 1)}${word.slice(2)}q`
}

test("one misspelt or missing word is one finding", () => {
  const text = sampleDeclarations.join("\n")
  const counts: number[] = []
  // Each word takes two compilations: `npm test` has every fourth one.
  const words = [...text.matchAll(/[A-Za-z0-9_.:/-]+/g)].filter((_, at) => isLong || at % 4 === 0)
  for (const found of words) {
    for (const word of ["", misspelt(found[0])]) {
      const broken = text.slice(0, found.index) + word + text.slice(found.index + found[0].length)
      const files = new MemoryFiles([
        ["gateway.conf", broken],
        ["acme.fga", sampleModel],
      ])
      counts.push(compile(files, "gateway.conf").diagnostics.length)
    }
  }
  // A misspelt declaration is missed in every place that uses it; those are as many mistakes for whoever wrote them.
  const several = counts.filter((count) => count > 1)
  expect(several.length / counts.length).toBeLessThan(isLong ? 0.03 : 0.05)
  expect(counts.filter((count) => count === 1).length / counts.length).toBeGreaterThan(0.8)
})
