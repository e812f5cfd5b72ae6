import { describe, expect, test } from "vitest"
import { type Checked, checkExpression } from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { parseCelType, printCelType } from "../../runtime/expression/types.ts"
import { declarations } from "./sample.ts"

const environment = declareEnvironment(declarations)

function messages(checked: Checked, source: string): string[] {
  if (checked.ok) return []
  return checked.findings.map(({ message, start, end }) => `${source.slice(start, end)}: ${message}`)
}

function referencesOf(source: string): string[] {
  const checked = checkExpression(source, environment)
  if (!checked.ok) return messages(checked, source)
  return checked.references.map(({ path, start, end }) => `${path.join("/")}=${source.slice(start, end)}`)
}

describe("types", () => {
  test.each([
    ["int", "int"],
    ["list<int>", "list<int>"],
    ["list", "list<dyn>"],
    ["map", "map<dyn, dyn>"],
    ["map<string,list< int >>", "map<string, list<int>>"],
    ["Person", "Person"],
  ])("%s is read as %s", (text, printed) => {
    const type = parseCelType(text)
    expect(type && printCelType(type)).toBe(printed)
  })

  test.each([
    "",
    "list<",
    "list<int",
    "list<int>>",
    "int<int>",
    "map<string>",
    "list<int,int>",
    "<",
    "a b",
    "1",
  ])("%s is not a type", (text) => expect(parseCelType(text)).toBeUndefined())

  test("a nesting without end is not a type", () => {
    expect(parseCelType("list<".repeat(10_000))).toBeUndefined()
  })

  test("an environment names only what is declared", () => {
    expect(() => declareEnvironment({ variables: { a: "Nobody" } })).toThrow("unknown object type `Nobody`")
    expect(() => declareEnvironment({ variables: { a: "list<" } })).toThrow("`list<` is not a type")
    expect(() => declareEnvironment({ variables: {}, objects: { int: { fields: {} } } })).toThrow("`int`")
  })
})

describe("findings", () => {
  test.each<[string, string[]]>([
    ["nobody", ["nobody: unknown name `nobody`"]],
    ["person.nme", ["nme: `person` has no field `nme`"]],
    ["person.greet", ["greet: `greet` is a method; call it"]],
    ["person.nme == 1 && nobody > i", ["nme: `person` has no field `nme`", "nobody: unknown name `nobody`"]],
    ["s < i || i", ["s < i: `<` does not take `string` and `int`", "i: `||` takes `bool`, not `int`"]],
    ["s.startsWith(i)", ["i: `startsWith` takes `string` here, not `int`"]],
    ["s.substring(i, i, i)", ["substring(i, i, i): `substring` takes 1 argument or 2 arguments, not 3"]],
    ["size(i)", ["i: `size` takes `string`, `bytes`, `list`, `map` here, not `int`"]],
    ["l.all(x, x)", ["x: the condition of `all` must be `bool`, not `int`"]],
    ["i = 3", ["=: `=` is not a comparison; write `==`"]],
    ["(i", [": expected `)`, but the expression ends"]],
    ["i i", ["i: `i` is not allowed here"]],
    ["", [": the expression is empty"]],
    // Several mistakes at once, each once.
    [
      "i = 3 & s == 'x' | yes",
      [
        "=: `=` is not a comparison; write `==`",
        "&: `&` is not an operator; write `&&`",
        "|: `|` is not an operator; write `||`",
      ],
    ],
    [
      "i === 3 and s <> 'x'",
      [
        "===: `===` is not an operator; write `==`",
        "and: `and` is not an operator; write `&&`",
        "<>: `<>` is not an operator; write `!=`",
      ],
    ],
    [
      "(i > ) && s.startsWith('a' 'b') || l[",
      [
        "): expected a value, found `)`",
        "'b': expected `,` or `)`, found `'b'`",
        ": expected a value, but the expression ends",
      ],
    ],
    [
      "[1, , 2] == l && {'a' 1, 'b': } == m",
      [",: expected a value, found `,`", "1: expected `:`, found `1`", "}: expected a value, found `}`"],
    ],
    [
      "'a\\q' == s && \"\\u12\" == s",
      [
        "\\q: `\\q` is not an escape; write a backslash as `\\\\`",
        "\\u: `\\u` is not an escape; write a backslash as `\\\\`",
      ],
    ],
    ["i > 1) && (s == 'a'", ["): there is no `(` for this `)`", ": expected `)`, but the expression ends"]],
    ["i > 1]", ["]: there is no `[` for this `]`"]],
    ["s == 'a", ["'a: the string is not closed: `'` is missing"]],
    [
      "s == 'a\n' && yes",
      ["'a\n': a string with single quotation marks ends on its line; use three marks for several lines"],
    ],
    ["s == “a”", ["“a”: strings need straight quotes: `\"…\"` or `'…'`"]],
    ["i > 1 # more", ["#: `#` does not start a comment; comments start with `//`"]],
    ["person.?name", ["?: optional access is not part of the language; use `has(a.b)` to test for a field"]],
    [
      "Person{name: 'a'}.name == s",
      ['Person{: messages are not available here; write a map as `{"key": value}`'],
    ],
    [
      "yes ? 1 ? 2 : 3 : 4",
      ["?: a conditional inside a conditional needs parentheses: `a ? (b ? c : d) : e`"],
    ],
    ["l.all(x y)", ["y: expected `,` or `)`, found `y`"]],
    ["has(i)", ["has(i): `has` takes a field: `has(a.b)`"]],
    ["for == 1", ["for: `for` is a reserved word"]],
    ["s.nope().more() > 1", ["nope: unknown method `nope` on `string`"]],
    ["s.matches('a(')", ["'a(': the pattern is not a regular expression: missing closing ): `a(`"]],
  ])("%s", (source, wanted) => {
    expect(messages(checkExpression(source, environment), source)).toEqual(wanted)
  })

  test("an unknown name comes with the known ones", () => {
    const checked = checkExpression("l.all(x, y > 1)", environment)
    const [finding] = checked.ok ? [] : checked.findings
    expect(finding).toMatchObject({ kind: "unknown-name", name: "y", start: 9, end: 10 })
    expect(finding?.candidates).toEqual(["x", ...Object.keys(declarations.variables)])
  })

  test("a wrong result is a finding, dyn may be anything", () => {
    expect(checkExpression("i", environment, "bool")).toEqual({
      ok: false,
      findings: [{ kind: "type", message: "`bool` is expected here, not `int`", start: 0, end: 1 }],
    })
    expect(checkExpression("any", environment, "bool")).toMatchObject({ ok: true, type: "dyn" })
    expect(checkExpression("i > 1", environment, "bool")).toMatchObject({ ok: true, type: "bool" })
  })

  test("the type is told in the notation of the door", () => {
    const checked = checkExpression('{"a": [t - t]}', environment)
    expect(checked).toMatchObject({ ok: true, type: "map<string, list<duration>>" })
  })
})

describe("names", () => {
  const named = declareEnvironment({
    variables: {
      "a.b.c": "string",
      "a.b": "map<string, int>",
      "x.y.z": "bool",
      z: "int",
      var: "map<string, string>",
      for: "int",
    },
    container: "x.y",
  })
  test.each<[string, string, string[]]>([
    ["a.b.c", "string", ["a.b.c=a.b.c"]],
    [".a.b.c", "string", ["a.b.c=.a.b.c"]],
    ["a.b.d", "int", ["a.b/d=a.b.d"]],
    ["a.b[z ? 'c' : 'd']", "int", ["a.b=a.b", "x.y.z=z"]],
    ["a.b.`c`", "int", ["a.b/c=a.b.`c`"]],
    ["z", "bool", ["x.y.z=z"]],
    [".z", "int", ["z=.z"]],
    ["y.z", "bool", ["x.y.z=y.z"]],
    ["x.y.z", "bool", ["x.y.z=x.y.z"]],
    ["[true].all(z, z && .z > 0)", "bool", ["z=.z"]],
    ["[{'b': {'c': 1}}].all(a, a.b.c == 1)", "bool", []],
    ["var.a + string(for)", "string", ["var/a=var.a", "for=for"]],
    ["strings.quote(var.a)", "string", ["var/a=var.a"]],
    ["google.protobuf.Timestamp", "type", []],
  ])("%s is %s and reads %o", (source, type, reads) => {
    const checked = checkExpression(source, named)
    expect(checked).toMatchObject({ ok: true, type })
    const references = checked.ok ? checked.references : []
    expect(references.map(({ path, start, end }) => `${path.join("/")}=${source.slice(start, end)}`)).toEqual(
      reads,
    )
  })

  test("of a variable hide the namespace of a function", () => {
    const shadowed = declareEnvironment({ variables: { strings: "list<string>" } })
    expect(messages(checkExpression("strings.quote('a')", shadowed), "strings.quote('a')")).toEqual([
      "quote: unknown method `quote` on `list<string>`",
    ])
  })
})

describe("references", () => {
  test.each<[string, string[]]>([
    ["i", ["i=i"]],
    ["person.address.city", ["person/address/city=person.address.city"]],
    ['claims["a"].b', ['claims/a/b=claims["a"].b']],
    ["has(claims.a.b)", ["claims/a/b=claims.a.b"]],
    ["person.greet(s)", ["person=person", "s=s"]],
    ["claims[s]", ["claims=claims", "s=s"]],
    ["l.all(i, i > 1) && i > 2", ["l=l", "i=i"]],
    ["claims.roles.exists(r, r == claims.sub)", ["claims/roles=claims.roles", "claims/sub=claims.sub"]],
    ["int(s) > 1", ["s=s"]],
  ])("%s", (source, wanted) => expect(referencesOf(source)).toEqual(wanted))
})
