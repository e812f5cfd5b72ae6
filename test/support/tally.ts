import { writeSync } from "node:fs"
import type { SerializedError } from "vitest"
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node"
import { beforeRemoval, leftBehind } from "./run-folder.ts"

/**
 * Says what random tests asked, what was skipped and why, and ends the output with the line `N passed, M failed`.
 * The line is written when the process ends, after whatever other reporters still say. In a run without failures, a temporary file or folder that
 * still exists then is a failure.
 */
export class Tally implements Reporter {
  #atEnd: (() => void) | undefined

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
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
    const lines = `${asked === "" ? "" : `\nAsked at random:\n${asked}`}${describe(skipped)}`
    // In watch mode only the last run counts.
    if (this.#atEnd !== undefined) process.off("exit", this.#atEnd)
    this.#atEnd = () => {
      const left = reason === "passed" ? leftBehind() : []
      if (left.length > 0) process.exitCode = 1
      writeSync(1, `${lines}${leftText(left)}\n${passed} passed, ${failed + left.length} failed\n`)
    }
    beforeRemoval(this.#atEnd)
  }
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ")
}

function leftText(left: readonly string[]): string {
  return left.length === 0 ? "" : `\n!! LEFT in the temporary folder: ${left.join(", ")}\n`
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
