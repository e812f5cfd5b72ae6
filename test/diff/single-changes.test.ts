import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type Risk, risks } from "../../compiler/analysis/finding.ts"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { changesText } from "../../compiler/render/changes.ts"
import { compiled } from "./compiled.ts"

// One change at a time to one project, with the class a security reviewer gives it: the table is test/cases/single-changes/changes.txt.

interface Row {
  readonly risk: Risk
  readonly name: string
  readonly from: string
  readonly to: string
  readonly why: RegExp
}

const table = readFileSync(new URL("../cases/single-changes/changes.txt", import.meta.url), "utf8")
const sections = new Map(
  table
    .split(/^-- /m)
    .slice(1)
    .map((section) => {
      const [head = "", ...lines] = section.split("\n")
      return [head.replace(/ --$/, ""), lines.join("\n")] as const
    }),
)
const project = { "gateway.conf": sections.get("project") ?? "", "acme.fga": sections.get("model") ?? "" }
const start = compiled(project)

function rowOf(line: string): Row {
  const [risk, name = "", from = "", to = "", why = ""] = line.split(" ¦ ")
  const text = (written: string) => written.replaceAll("\\n", "\n").trim()
  if (!risks.includes(risk as Risk)) throw new Error(`no class: ${line}`)
  return { risk: risk as Risk, name, from: text(from), to: text(to), why: new RegExp(why) }
}

function changesOf({ name, from, to }: Row) {
  const path = name.startsWith("model") ? "acme.fga" : "gateway.conf"
  expect(project[path].split(from), "the text before stands there once").toHaveLength(2)
  const after = compiled({ ...project, [path]: project[path].replace(from, () => to) })
  return comparePlans(start.plan, after.plan, after.origins)
}

for (const [head, text] of sections) {
  if (head === "project" || head === "model") continue
  describe(head, () => {
    for (const row of text.trim().split("\n").map(rowOf))
      it(`${row.risk}: ${row.name}`, () => {
        const changes = changesOf(row)
        const shown = changesText(changes, { colour: false })
        const worst = risks.find((risk) => changes.some((each) => each.risk === risk)) ?? "neutral"
        expect(worst, shown).toBe(row.risk)
        expect(changes.map(({ why }) => why).join("; "), shown).toMatch(row.why)
      })
  })
}
