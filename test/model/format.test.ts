import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { parseModel } from "../../compiler/model/document.ts"
import { formatModelFile } from "../../compiler/model/format.ts"
import { lowerModel } from "../../compiler/model/lower.ts"
import { ModelMistakes } from "../../compiler/model/mistakes.ts"
import { printModel } from "../../compiler/model/print-model.ts"
import { reduced } from "../support/random-run.ts"
import {
  conformanceFiles,
  conformanceText,
  conformanceYaml,
  describeConformance,
  type LanguageCase,
} from "./conformance.ts"
import { randomModel } from "./random-model.ts"

function format(text: string, path = "model.fga"): string | undefined {
  return formatModelFile(new SourceFile(path, text), new Report())
}

function formatted(text: string, path?: string): string {
  const done = format(text, path)
  if (done === undefined) throw new Error(`this has mistakes:\n${text}`)
  return done
}

function meaningOf(text: string): unknown {
  const document = parseModel(new ModelMistakes(new SourceFile("model.fga", text), new Report()))
  const { header, types } = document
  const extended = types.filter(({ extend }) => extend).map(({ name }) => name.text)
  const head = header?.kind === "module" ? header.name.text : header?.schema.text
  return [header?.kind, head, extended, lowerModel(document).model]
}

/** Formats, and holds the result to what is promised of it. */
function sound(text: string): string {
  const once = formatted(text)
  expect(meaningOf(once)).toEqual(meaningOf(text))
  expect(formatted(once)).toBe(once)
  expect(once).not.toMatch(/[ \t]\n|\n\n\n|^\n/)
  return once
}

describe("fmt of a model", () => {
  test.each<[string, string, string]>([
    [
      "indentation, blanks and needless parentheses",
      "model\nschema 1.1\n type  user\ntype doc\nrelations\n  define a:[user,user:*,  doc#a  with c ]\n\n\n define b :  (a or ((a and b)))\ncondition c( x:int,y :  list<string> ){x>1}",
      "model\n  schema 1.1\n\ntype user\n\ntype doc\n  relations\n    define a: [user, user:*, doc#a with c]\n\n    define b: a or (a and b)\n\ncondition c(x: int, y: list<string>) {\n  x>1\n}\n",
    ],
    [
      "comments in all places",
      "# top\n\n# of model\nmodel # m\n # before schema\n  schema 1.1 # s\n# user\ntype user # u\n\n    # last of user\n\n# free\n\n# doc\ntype doc\n# in doc\n  relations # r\n\n  # of a\n    define a: [user] # a\n\n    # group\n    define b: a\n      # end of doc\n# end\n",
      "# top\n\n# of model\nmodel # m\n  # before schema\n  schema 1.1 # s\n\n# user\ntype user # u\n  # last of user\n\n# free\n\n# doc\ntype doc\n  # in doc\n  relations # r\n    # of a\n    define a: [user] # a\n\n    # group\n    define b: a\n    # end of doc\n# end\n",
    ],
    [
      "lists over several lines",
      "model\n  schema 1.1\ntype doc\n  relations\n    define a: [ # kinds\n user, # people\n # all ]\n user:*, doc#a\n # last\n ] or b # why\n    define b: ([user,\n user:*] and a) or b\ncondition c(x: int, # first\n y: int\n) {\n x > y }\n",
      "model\n  schema 1.1\n\ntype doc\n  relations\n    define a: [ # kinds\n      user, # people\n      # all ]\n      user:*,\n      doc#a\n      # last\n    ] or b # why\n    define b: ([\n      user,\n      user:*\n    ] and a) or b\n\ncondition c(\n  x: int, # first\n  y: int\n) {\n  x > y\n}\n",
    ],
    [
      "bodies, whose lines but the first are theirs",
      'model\n  schema 1.1\ncondition a(x: int) { # why\n# more\n      x > 1 && # one\n        # two\n    "  # }" == """\n  a   \n""" // three\n\n } # end\n',
      'model\n  schema 1.1\n\ncondition a(x: int) {\n  # why\n  # more\n  x > 1 && # one\n        # two\n    "  # }" == """\n  a   \n""" // three\n} # end\n',
    ],
    [
      "a module",
      "module  core\nextend type user\n relations\n define a: [user]",
      "module core\n\nextend type user\n  relations\n    define a: [user]\n",
    ],
  ])("%s", (_, text, wanted) => {
    expect(formatted(text)).toBe(wanted)
    if (!wanted.includes("  a   \n")) sound(text)
  })

  test("line ends of other systems", () => {
    const text =
      "model # m\n  schema 1.1\n\n# u\ntype user\n\ncondition c(x: int) {\n  x > 1 && # a\n    x < 2\n}\n"
    // In a body a comment ends with LF only, because CEL's lines do.
    const old = text.replace(" # a", "").replaceAll("\n", "\r")
    expect(meaningOf(formatted(old))).toEqual(meaningOf(old))
    expect(formatted(text.replaceAll("\n", "\r\n"))).toBe(text)
  })

  test("a file with a syntax error is left alone, one that only means nothing is not", () => {
    expect(format("model\n  schema 1.1\ntype a b\n")).toBeUndefined()
    expect(format("")).toBeUndefined()
    expect(format("model\n  schema 1.1\ntype doc\n  relations\n    define a: gone\n")).toBeDefined()
  })
})

const noise = fc.record({
  indent: fc.constantFrom("", "  ", "\t", "       "),
  blanks: fc.nat(3),
  above: fc.array(fc.tuple(fc.constantFrom("", " ", "    ", "\t\t"), fc.nat(999), fc.nat(2)), {
    maxLength: 2,
  }),
  behind: fc.option(fc.nat(999), { nil: undefined }),
  broken: fc.boolean(),
  tight: fc.boolean(),
})

/** A text that means the same, with other blanks and with comments. */
function disturbed(
  text: string,
  noises: readonly (typeof noise extends fc.Arbitrary<infer Value> ? Value : never)[],
): string {
  let inBody = false
  return text
    .split("\n")
    .map((line, at) => {
      const use = noises[at % noises.length]
      if (use === undefined || inBody) {
        if (line === "}") inBody = false
        return line
      }
      if (line.startsWith("condition")) inBody = true
      let own = line.trim()
      if (own.startsWith("define")) {
        if (use.broken)
          own = own
            .replace("[", `[ # in${at}\n`)
            .replaceAll(", ", ` ,# no\n, `.replace(" ,# no\n", ""))
            .replace("]", `\n# before${at}\n]`)
        if (use.tight) own = own.replace(": ", " :")
      }
      const above = use.above
        .map(([indent, mark, blanks]) => `${indent}# above${mark}${"\n".repeat(blanks + 1)}`)
        .join("")
      const behind = use.behind === undefined || own === "" ? "" : ` # behind${use.behind}`
      return `${"\n".repeat(use.blanks)}${above}${use.indent}${own}${behind}`
    })
    .join("\n")
}

function commentsOf(text: string): string[] {
  return (text.match(/# (?:above|behind|in|before)\d+/g) ?? []).sort()
}

describe("fmt of random models", () => {
  test("keeps what they mean and every comment, and what is printed is canonical", () => {
    fc.assert(
      fc.property(randomModel, fc.array(noise, { minLength: 1, maxLength: 12 }), (model, noises) => {
        const printed = printModel(model)
        if ("problem" in printed) throw new Error(printed.problem)
        expect(formatted(printed.text)).toBe(printed.text)
        const text = disturbed(printed.text, noises)
        const once = formatted(text)
        expect(meaningOf(once)).toEqual(meaningOf(printed.text))
        expect(commentsOf(once)).toEqual(commentsOf(text))
        expect(formatted(once)).toBe(once)
      }),
      { numRuns: reduced(120, 400) },
    )
  })

  test("of edited ones either says why not, or keeps what they mean", () => {
    const base =
      "model # a\n  schema 1.1\n# u\ntype user\ntype doc\n  relations\n    define a: [user, # p\n  user:* with c] or (b but not a) # x\n    define b: (a)\ncondition c(x: int, y: string) {\n  x > 1 && # c\n   y != '#{ }' // z\n}\n# end"
    const pieces = [
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "#",
      " # ",
      "\n",
      "\r",
      "\t",
      '"',
      "'''",
      "//",
      ",",
      " or ",
      "type ",
      "define ",
      "condition d(x: int) {",
    ]
    const edit = fc.record({
      at: fc.nat(base.length),
      remove: fc.nat(5),
      insert: fc.constantFrom("", ...pieces),
    })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const text = edits.reduce(
          (all, { at, remove, insert }) => all.slice(0, at) + insert + all.slice(at + remove),
          base,
        )
        const report = new Report()
        const once = formatModelFile(new SourceFile("model.fga", text), report)
        expect(once === undefined).toBe(report.blocked)
        if (once === undefined) return
        expect(meaningOf(once)).toEqual(meaningOf(text))
        expect(formatted(once)).toBe(once)
      }),
      { numRuns: 1500 },
    )
  })
})

describe("fmt of fga.mod", () => {
  test("quotes the version, puts one file on a line, and keeps comments", () => {
    const text =
      "# parts\nschema:   '1.2'  # version\n\n\ncontents: [ core.fga,   \"a/b.fga\" ]\nmore: {a: 1}\n# end\n"
    const wanted =
      '# parts\nschema: "1.2" # version\n\ncontents:\n  - core.fga\n  - a/b.fga\nmore: { a: 1 }\n\n# end\n'
    expect(formatted(text, "fga.mod")).toBe(wanted)
    expect(formatted(wanted, "fga.mod")).toBe(wanted)
    expect(format("a: [", "fga.mod")).toBeUndefined()
  })

  test("means the same, keeps every comment and is a fixed point", () => {
    const comment = fc.nat(999).map((mark) => `# c${mark}`)
    const item = fc.record({
      quote: fc.constantFrom("", "'", '"'),
      path: fc.constantFrom("core.fga", "a b.fga", "team/x.fga", "true.fga"),
      above: fc.option(comment, { nil: undefined }),
      behind: fc.option(comment, { nil: undefined }),
      blank: fc.boolean(),
    })
    const mod = fc.record({
      items: fc.array(item, { minLength: 1, maxLength: 4 }),
      head: fc.option(comment),
      tail: fc.option(comment),
      indent: fc.constantFrom("", "  ", "    "),
    })
    fc.assert(
      fc.property(mod, ({ items, head, tail, indent }) => {
        const lines = items.map(({ quote, path, above, behind, blank }) => {
          return `${blank ? "\n" : ""}${above === undefined ? "" : `${indent}${above}\n`}${indent}-   ${quote}${path}${quote}${behind === undefined ? "" : `   ${behind}`}\n`
        })
        const text = `${head === null ? "" : `${head}\n`}schema:  '1.2'\ncontents:\n${lines.join("")}${tail === null ? "" : `${tail}\n`}`
        const once = formatted(text, "fga.mod")
        expect(parse(once)).toEqual(parse(text))
        const marks = (each: string) => (each.match(/# c\d+/g) ?? []).sort()
        expect(marks(once)).toEqual(marks(text))
        expect(formatted(once, "fga.mod")).toBe(once)
      }),
      { numRuns: 300 },
    )
  })
})

describeConformance("fmt of the public models", () => {
  const files = ["language", "sample-stores"]
    .flatMap(conformanceFiles)
    .filter((path) => path.endsWith(".fga"))
  test.each(files)("%s", (path) => {
    const text = conformanceText(path)
    if (format(text) === undefined) expect(path).toMatch(/module-with-errors\/module\/syntax-error\.fga$/)
    else sound(text)
  })

  const cases = ["dsl-syntax-validation-cases.yaml", "dsl-semantic-validation-cases.yaml"].flatMap((file) =>
    conformanceYaml<LanguageCase[]>(`language/${file}`),
  )
  test.each(cases)("$name", ({ dsl }) => {
    if (format(dsl) !== undefined) sound(dsl)
  })

  const printed = conformanceFiles("language").filter((path) =>
    /authorization-model\.fga$|combined.*\.fga$/.test(path),
  )
  test.each(printed)("leaves %s as OpenFGA's tools print it", (path) => {
    expect(formatted(conformanceText(path))).toBe(conformanceText(path))
  })
})
