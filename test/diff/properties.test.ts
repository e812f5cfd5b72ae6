import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { changesJson, changesText } from "../../compiler/render/changes.ts"
import { canonicalJson, digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { firstSeed, scaled } from "../support/random-run.ts"
import { compiled } from "./compiled.ts"
import { edited, isValid, type Random, randomOf } from "./edits.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
const text = read("gateway.conf").replace(/^include .*$/m, "")
const model = read("models/acme.fga")
const documents = Object.fromEntries(
  ["models/catalog.openapi.yaml", "models/stock.policy.xml"].map((path) => [path, read(path)]),
)
const projectOf = (conf: string, fga = model) =>
  compiled({ ...documents, "gateway.conf": conf, "models/acme.fga": fga })
const sample = projectOf(text)

/** Statements that stand at the start of a line, with their blocks. */
function topStatements(conf: string): string[] {
  const statements: string[] = []
  let open: string[] = []
  for (const line of conf.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    open.push(line)
    const starts = !line.startsWith(" ") && !line.startsWith("}")
    if ((starts && !line.endsWith("{")) || line.startsWith("}")) {
      statements.push(open.join("\n"))
      open = []
    }
  }
  return statements
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const left = [...items]
  return items.map(() => left.splice(random(left.length), 1)[0] as Item)
}

describe("a plan compared with itself", () => {
  test("has no changes, also as a copy with keys in another order", () => {
    const reversed = (node: unknown): unknown => {
      if (typeof node !== "object" || node === null || Array.isArray(node)) return node
      return Object.fromEntries(
        Object.entries(node)
          .reverse()
          .map(([key, item]) => [key, reversed(item)]),
      )
    }
    expect(comparePlans(sample.plan, sample.plan)).toEqual([])
    expect(comparePlans(sample.plan, reversed(sample.plan) as PlanBody)).toEqual([])
  })

  test("has none when declarations are moved and comments and blanks are written", () => {
    const statements = topStatements(text)
    expect(statements.length).toBeGreaterThan(12)
    for (let seed = 1; seed <= scaled(8, 0.4); seed += 1) {
      const random = randomOf(seed)
      const conf = shuffled(statements, random)
        .map((each) => `${"\n".repeat(random(3))}# ${random(100)}\n${each}`)
        .join("\n")
      const plan = projectOf(`${conf}\n`)
      expect(comparePlans(sample.plan, plan.plan), conf).toEqual([])
      expect(plan.digest).toBe(sample.digest)
    }
  })

  test("has none when types and relations of the model are moved", () => {
    const [head, ...types] = model.split(/^(?=type )/m)
    for (let seed = 1; seed <= scaled(5, 0.4); seed += 1) {
      const random = randomOf(seed)
      const conditionLast = types.at(-1) as string
      const [lastType, condition] = conditionLast.split(/^(?=condition )/m) as [string, string]
      const moved = shuffled([...types.slice(0, -1), lastType], random).map((type) => {
        const [opening, ...defines] = type.split(/^(?=\s+define )/m) as [string, ...string[]]
        return (
          opening.replace(/\n+$/, "\n") +
          shuffled(
            defines.map((each) => `${each.trimEnd()}\n`),
            random,
          ).join("")
        )
      })
      const plan = projectOf(text, `${head}${moved.join("\n")}\n${condition}`)
      expect(comparePlans(sample.plan, plan.plan)).toEqual([])
    }
  })
})

describe("a plan with an edit", () => {
  const runs = scaled(100, 0.4)

  test(`is never silent (${runs} edits)`, () => {
    const random = randomOf(firstSeed)
    let different = 0
    let valid = 0
    for (let run = 0; run < runs; run += 1) {
      const after = edited(sample.plan, random)
      const changes = comparePlans(sample.plan, after)
      const isDifferent = digestOf(after) !== sample.digest
      expect(changes.length > 0, canonicalJson(after)).toBe(isDifferent)
      if (!isDifferent) continue
      different += 1
      for (const { why, reasons } of changes) expect(why === "" || reasons.length === 0).toBe(false)
      expect(comparePlans(after, sample.plan).length).toBeGreaterThan(0)
      if (!isValid(after)) continue
      valid += 1
      // The last resort is for what nothing uses.
      expect(
        changes.filter(({ subject, danger }) => subject.kind === "plan" && !danger),
        canonicalJson(after),
      ).toEqual([])
    }
    expect(different).toBeGreaterThan(runs / 2)
    expect(valid).toBeGreaterThan(runs / 10)
  })

  test("is told the same each time, as text without control characters and as JSON", () => {
    const random = randomOf(7)
    for (let run = 0; run < scaled(15, 0.4); run += 1) {
      const after = edited(edited(sample.plan, random), random)
      const changes = comparePlans(sample.plan, after)
      expect(comparePlans(structuredClone(sample.plan), structuredClone(after))).toEqual(changes)
      const told = changesText(changes, { colour: false })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
      expect(told).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
      expect(JSON.parse(changesJson(changes))).toHaveLength(changes.length)
    }
  })
})
