import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { outcome } from "./run.ts"

const folder = fileURLToPath(new URL("../../cases/csharp/", import.meta.url))

/** Cases are separated by blank lines: lines of source, then `=> ` and what comes out, lines after it going on with it. */
function casesOf(text: string): { source: string; expected: string }[] {
  return text
    .split(/\n\n+/)
    .map((part) => part.replace(/^#.*\n?/gm, "").trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [source = "", expected = ""] = part.split("\n=> ")
      return { source, expected }
    })
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".case")))
  test.each(casesOf(readFileSync(`${folder}${file}`, "utf8")))(`${file}: $source`, ({ source, expected }) => {
    expect(outcome(source).replaceAll("\n", "\\n")).toBe(expected)
  })
