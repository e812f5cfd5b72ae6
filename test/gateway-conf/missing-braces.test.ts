import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
import { reduced } from "../support/random-run.ts"

/** A project of many declarations: what one missing brace moves into another block is most of it. */
function project(apis: number): string {
  const parts = Array.from(
    { length: apis },
    (_, number) => `backend b${number} {
  url "http://127.0.0.1:${9100 + number}"
  timeout connect 1s total 5s
}

api a${number} {
  path "/a${number}"
  auth none
  backend b${number}
  inbound {
    header set "X-A" "${number}"
    when (request.header("X") == "1") {
      respond 403 {
        body text "no"
      }
    } else {
      query set "a" "b"
    }
  }
  GET "/x" {
    timeout 5s
  }
  PUT "/{id}" { cache response 5s }
}
`,
  )
  return ["gateway g {", "  listen 127.0.0.1:8000", "  trust none", "}", ...parts].join("\n")
}

function findings(text: string): readonly string[] {
  return compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf").diagnostics.map(
    ({ code }) => code,
  )
}

const indented = project(20)
const layouts = {
  indented,
  "not indented": indented.replace(/^ +/gm, ""),
  "tabs between blanks": indented
    .split("\n")
    .map((line, index) =>
      index % 3 === 0 ? line.replace(/^ +/, (blanks) => "\t".repeat(blanks.length / 2)) : line,
    )
    .join("\n"),
}

test.each(Object.entries(layouts))("one missing brace is one finding or two: %s", (_, text) => {
  expect(findings(text)).toEqual([])
  const braces = [...text.matchAll(/(?<!")[{}](?!")/g)].filter(
    ({ index }) => text[index - 1] !== "/" && text[index - 1] !== "d",
  )
  // Two declarations in the middle, and every brace of theirs.
  for (const { index } of braces.slice(100, reduced(112, 130))) {
    const found = findings(text.slice(0, index) + text.slice(index + 1))
    expect(found.length, `${text.slice(index - 20, index + 20)}: ${found.join(" ")}`).toBeLessThanOrEqual(2)
    expect(found.length).toBeGreaterThan(0)
    expect(found.some((code) => code.startsWith("SP1"))).toBe(true)
  }
})
