import fc from "fast-check"
import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { formatGateway } from "../../compiler/gateway/format.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"
import { compile } from "../compile.ts"
import { sampleDeclarations, sampleModel } from "./sample.ts"

function bytesOf(...files: (readonly [string, string])[]): string {
  const { plan, diagnostics } = compile(
    new MemoryFiles([...files, ["acme.fga", sampleModel]]),
    "gateway.conf",
  )
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([])
  return canonicalJson(plan?.plan)
}

const expected = (): string => bytesOf(["gateway.conf", sampleDeclarations.join("\n")])

test("the order of declarations changes no byte of a plan", () => {
  const bytes = expected()
  const orders = fc.shuffledSubarray([...sampleDeclarations], { minLength: sampleDeclarations.length })
  fc.assert(
    fc.property(orders, (order) => bytesOf(["gateway.conf", order.join("\n")]) === bytes),
    { numRuns: 25 },
  )
})

test("neither does their place in files", () => {
  const bytes = expected()
  const cuts = fc.integer({ min: 0, max: sampleDeclarations.length })
  fc.assert(
    fc.property(cuts, (cut) => {
      const [first, second] = [sampleDeclarations.slice(0, cut), sampleDeclarations.slice(cut)]
      return (
        bytesOf(
          ["gateway.conf", `include "parts/*.conf"\n${first.join("\n")}`],
          ["parts/a.conf", second.join("\n").replace('"acme.fga"', '"../acme.fga"')],
        ) === bytes
      )
    }),
    { numRuns: 10 },
  )
})

test("nor do format and comments", () => {
  const text = sampleDeclarations.join("\n# a comment\n\n\n").replaceAll("; ", "\n\n   ")
  const formatted = formatGateway(parseGateway(new SourceFile("gateway.conf", text), new Report()))
  expect(bytesOf(["gateway.conf", text])).toBe(expected())
  expect(bytesOf(["gateway.conf", formatted])).toBe(expected())
})
