import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
import { sampled } from "../support/random-run.ts"

const root = new URL("../../", import.meta.url)
const broken = ["gateway.conf", "models/acme.fga", "models/catalog.openapi.yaml", "models/stock.policy.xml"]
const others = ["models/acme.tuples.json", "models/teams/status.conf", "models/tests/acme.fga.yaml"]
const example = new Map(
  [...broken, ...others].map((path) => [path, readFileSync(fileURLToPath(new URL(path, root)), "utf8")]),
)

/** The same numbers in every run: counts and places can be compared. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

interface Mistake {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly what: string
}

interface Token {
  readonly start: number
  readonly image: string
}

/** Words, numbers and signs outside of comments. */
function tokensOf(file: string, text: string): Token[] {
  const comment = file.endsWith(".xml") ? /<!--[\s\S]*?-->/g : /(?:^|[ \t])#.*$/gm
  const code = text.replace(comment, (found) => found.replace(/[^\n]/g, " "))
  return [...code.matchAll(/[A-Za-z_][\w-]*|\d+|[^\sA-Za-z0-9_]/g)].map(({ 0: image, index }) => ({
    start: index,
    image,
  }))
}

/** One slip of the pen: a token left out, twice, misspelt, exchanged with the next one, or of another type; a tab. */
function mistakeIn(file: string, next: (below: number) => number): Mistake {
  const text = example.get(file) as string
  const tokens = tokensOf(file, text)
  const any = (fits: RegExp): Token => {
    const found = tokens.filter(({ image }) => fits.test(image))
    return found[next(found.length)] as Token
  }
  const instead = ({ start, image }: Token, by: string): Mistake => ({
    file,
    line: text.slice(0, start).split("\n").length,
    text: text.slice(0, start) + by + text.slice(start + image.length),
    what: `${image} -> ${by}`,
  })
  const token = any(/./)
  const kind = next(6)
  if (kind === 0) return instead(any(/^[{}()"\]>[<]$/), "")
  if (kind === 1) return instead(token, `${token.image} ${token.image}`)
  if (kind === 2) {
    const word = any(/^[A-Za-z_]\w{2,}/)
    return instead(word, word.image.replace(/^(.)(.)(.)/, "$1$3$2"))
  }
  if (kind === 3) {
    const index = next(tokens.length - 1)
    const [first, second] = [tokens[index] as Token, tokens[index + 1] as Token]
    const between = text.slice(first.start + first.image.length, second.start)
    const both = { start: first.start, image: first.image + between + second.image }
    return instead(both, second.image + between + first.image)
  }
  if (kind === 4) return instead(any(/^\d+$/), "abc")
  return instead(token, "")
}

function isAt({ span }: Diagnostic, { file, line }: Mistake): boolean {
  return span?.file.path === file && Math.abs(span.file.position(span.start).line - line) <= 2
}

test("the example has no findings", () => {
  expect(compile(new MemoryFiles(example), "gateway.conf").diagnostics).toEqual([])
})

// Not each: a brace left out where lines are not indented, or a name in another file, has its finding elsewhere. Many a change is none.
test.each(broken)("a single mistake in %s is told first, and nearly alone", (file) => {
  const next = numbers(20)
  const told = sampled(
    Array.from({ length: 60 }, () => mistakeIn(file, next)),
    20,
  ).flatMap((mistake) => {
    const files = new MemoryFiles(new Map(example).set(file, mistake.text))
    const { diagnostics } = compile(files, "gateway.conf")
    const [first] = diagnostics
    return first === undefined ? [] : [{ mistake, count: diagnostics.length, near: isAt(first, mistake) }]
  })
  const wrong = told.filter(({ count, near }) => !near || count > 2)
  const shown = wrong.map(
    ({ mistake: { line, what }, count, near }) => `${line}: ${what}: ${count}${near ? "" : ", far"}`,
  )
  expect(told.length).toBeGreaterThan(10)
  expect(wrong.length / told.length, shown.join("\n")).toBeLessThan(0.2)
  expect(Math.max(...told.map(({ count }) => count))).toBeLessThanOrEqual(10)
})
