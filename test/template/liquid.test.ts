import { describe, expect, test } from "vitest"
import { compileTemplate, TemplateProblem } from "../../runtime/template/liquid.ts"

const render = (source: string, variables: Record<string, unknown> = {}) =>
  compileTemplate(source).render(variables)

test("loops, conditions, filters by both their names", () => {
  const source =
    '{"to":"{{ body.name | Downcase | Replace: "x", "y" }}",{% for each in body.items %}"{{ each.id }}":{{ each.n | times: 2 | DividedBy: 4 }}{% unless forloop.last %},{% endunless %}{% endfor %}}'
  const body = {
    name: "AXB",
    items: [
      { id: "a", n: 2 },
      { id: "b", n: 6 },
    ],
  }
  expect(render(source, { body })).toBe('{"to":"ayb","a":1,"b":3}')
  expect(render("{{ 1234.5 | Currency }} {{ 'a b c' | Split: ' ' | Last }} {{ '<' | H }}")).toBe(
    "¤1,234.50 c &lt;",
  )
})

test("JSONArrayFor writes commas, and takes what an element holds as a list", () => {
  const loop =
    "[{% JSONArrayFor each in list -%}{{ each.id }}{% if forloop.last %}!{% endif %}{% endJSONArrayFor -%}]"
  expect(render(loop, { list: [{ id: 1 }, { id: 2 }] })).toBe("[1,2!]")
  expect(render(loop, { list: { xmlns: "urn:x", order: [{ id: 1 }, { id: 2 }] } })).toBe("[1,2!]")
  expect(render(loop, { list: { order: { id: 1, n: 2 } } })).toBe("[1!]")
  expect(render(loop, { list: { id: 1 } })).toBe("[1!]")
  expect(render(loop, { list: null })).toBe("[]")
  expect(() => render("{% JSONArrayFor each list %}{% endJSONArrayFor %}")).toThrow("write `JSONArrayFor")
  expect(() => render("{% JSONArrayFor each in list %}")).toThrow("not closed")
})

test("texts have no escapes, and Replace looks for a pattern", () => {
  expect(render(String.raw`{{ 'a\nb' }}{{ "\" }}{% raw %}{{ '\' }}{% endraw %}`)).toBe(
    String.raw`a\nb\{{ '\' }}`,
  )
  const json = String.raw`{{ text | Replace: '\r', '\r' | Replace: '\n', '\n' | Replace: '([^\\](\\\\)*)"', '$1\"' }}`
  expect(render(json, { text: 'say "x"\r\n' })).toBe(String.raw`say \"x\"\r\n`)
  expect(render("{{ 'a.b' | Replace: '.', '-' }}{{ 'a.b' | replace: '.', '-' }}")).toBe("---a-b")
  expect(render(String.raw`{{ 'k=v' | Replace: '(?<k>\w)=(\w)', '${"${k}"}:$2$9$$' }}`)).toBe("k:v$9$")
  expect(() => render("{{ 'a' | Replace: '(?=a)', '' }}")).toThrow("can't be used")
})

test("members of forloop may begin with a capital letter", () => {
  const source =
    "{% for each in list %}{{ forloop.Index }}{{ 'forloop.Last' }}{% if forloop.Last == false -%},{% endif %}{% endfor %}"
  expect(render(source, { list: [1, 2] })).toBe("1forloop.Last,2forloop.Last")
})

test("nothing but own properties of plain data is seen", () => {
  expect(
    render("{{ body.constructor.name }}{{ body.__proto__ }}{{ body.toString }}", { body: { a: 1 } }),
  ).toBe("")
  expect(render("{{ missing.name }}")).toBe("")
})

describe("what is wrong is told with its place", () => {
  test.each([
    ["ok\n{% if a %}", 3, "not closed"],
    ["ok {{ a | nope }}", 3, "undefined filter: nope"],
    ["{% include 'secret' %}", 0, 'tag "include" not found'],
    ["{% render '/etc/passwd' %}", 0, 'tag "render" not found'],
    ["{{ a", 0, "not closed"],
    [String.raw`{{ '\\\\' }}{{ a | nope: '\' }}`, 12, "undefined filter: nope"],
  ])("%s", (source, offset, message) => {
    try {
      compileTemplate(source)
    } catch (error) {
      expect(error).toBeInstanceOf(TemplateProblem)
      expect((error as TemplateProblem).offset).toBe(offset)
      expect((error as TemplateProblem).message).toContain(message)
      return
    }
    expect.unreachable()
  })
})

describe("work and memory have bounds", () => {
  test.each([
    ["a long loop", "{% for i in (1..1000000000) %}x{% endfor %}"],
    ["a loop in a loop", "{% for i in (1..100000) %}{% for j in (1..100000) %}{% endfor %}{% endfor %}"],
    ["a doubling text", `{% assign s = "aaaaaaaa" %}${"{% assign s = s | append: s %}".repeat(40)}{{ s }}`],
  ])("%s", (_, source) => {
    const compiled = compileTemplate(source)
    expect(() => compiled.render({})).toThrow(TemplateProblem)
  })

  test("a template of a megabyte", () => {
    expect(() => compileTemplate("x".repeat(1_000_000))).toThrow(TemplateProblem)
  })
})
