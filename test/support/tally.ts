import { writeSync } from "node:fs"
import type { SerializedError } from "vitest"
import type { Reporter, TestModule } from "vitest/node"

/**
 * Says what random tests asked, what was skipped and why, and ends the output with the line `N passed, M failed`.
 * The line is written when the process ends, after whatever other reporters still say.
 */
export class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0
    let failed = unhandled.length
    const skipped = new Map<string, string[]>()
    let asked = ""
    for (const module of modules) {
      failed += module.errors().length
      for (const suite of module.children.allSuites()) failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const result = test.result()
        const counts = test.meta().asked
        if (counts !== undefined) asked += `${module.relativeModuleId}: ${countsText(counts)}\n`
        if (result.state === "passed") passed += 1
        else if (result.state === "failed") failed += 1
        else addTo(skipped, reasonOf(result), `${module.relativeModuleId} > ${test.fullName}`)
      }
    }
    const lines = `${asked === "" ? "" : `\nAsked at random:\n${asked}`}${describe(skipped)}\n${passed} passed, ${failed} failed\n`
    process.once("exit", () => writeSync(1, lines))
  }
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ")
}

function reasonOf(result: object): string {
  return "note" in result && typeof result.note === "string" ? result.note : "no reason given"
}

function addTo(groups: Map<string, string[]>, key: string, name: string): void {
  const group = groups.get(key)
  if (group) group.push(name)
  else groups.set(key, [name])
}

function describe(skipped: ReadonlyMap<string, readonly string[]>): string {
  let text = ""
  for (const [reason, names] of skipped) {
    text += `\n!! SKIPPED ${names.length}: ${reason}\n`
    for (const name of names) text += `     ${name}\n`
  }
  return text
}
