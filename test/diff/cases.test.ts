import { expect } from "vitest"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { changesJson, changesText } from "../../compiler/render/changes.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { type Expectations, runCases } from "../cases.ts"
import { compiled } from "./compiled.ts"

// Sections `before/…` are the files of the plan that is running, sections `after/…` those of the plan to come. A file that one side lacks is
// the other side's; `before/gateway.conf` left out altogether: nothing is running.

interface Sides {
  readonly before: Plan | undefined
  readonly after: Plan
}

function sidesOf(sections: ReadonlyMap<string, string>): Sides {
  const side = (name: string) => {
    const files: Record<string, string> = {}
    for (const [path, text] of sections)
      for (const prefix of ["before/", "after/"])
        if (
          path.startsWith(prefix) &&
          !(sections.has(`${name}/${path.slice(prefix.length)}`) && prefix !== `${name}/`)
        )
          files[path.slice(prefix.length)] = text
    return files
  }
  return {
    before: sections.has("before/gateway.conf") ? compiled(side("before")) : undefined,
    after: compiled(side("after")),
  }
}

const expectations: Expectations = {
  diagnostics: () => "",
  changes: (_, sections) => {
    const { before, after } = sidesOf(sections)
    const changes = comparePlans(before?.plan, after.plan, after.origins)
    if (before !== undefined) expect(changes.length > 0).toBe(before.digest !== after.digest)
    return changesText(changes, { colour: false })
  },
  // The way back of the same case: what opens one way closes the other.
  backwards: (_, sections) => {
    const { before, after } = sidesOf(sections)
    if (before === undefined) throw new Error("there is no way back to nothing")
    return changesText(comparePlans(after.plan, before.plan, before.origins), { colour: false })
  },
  json: (_, sections) => {
    const { before, after } = sidesOf(sections)
    return changesJson(comparePlans(before?.plan, after.plan, after.origins))
  },
}

runCases("diff", expectations)
