import { describe, expect, test } from "vitest"
import { compileTemplate, TemplateProblem } from "../../runtime/azure/liquid/compile-template.ts"

/** Renders at once: a template that needs several turns of the event loop fails the test. */
const render = (source: string, variables: Record<string, unknown> = {}): string => {
  const made = compileTemplate(source).render(variables)
  if (typeof made !== "string") throw new Error("it takes more than one turn")
  return made
}

/** Renders in turns and answers what was made, and how many turns it took besides the first. */
async function renderInTurns(
  source: string,
  variables: Record<string, unknown> = {},
): Promise<{ made: string; turns: number }> {
  let turns = 0
  const made = await compileTemplate(source).render(variables, async () => {
    turns += 1
  })
  return { made, turns }
}

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
  expect(render(String.raw`{{ 'k=v' | Replace: '(?<k>\w)=(\w)', '${"${k}"}:$1$9$$' }}`)).toBe("k:v$9$")
  expect(render("{{ 'abac' | Replace: 'a(?=c)', 'x' }}")).toBe("abxc")
  expect(() => render("{{ 'a' | Replace: '(?=a', '' }}")).toThrow("is not supported: a `(` is not closed")
  expect(() => render(`{{ '${"a".repeat(40)}' | Replace: '(?=(a|a)*b)', '' }}`)).toThrow(
    "needs too many steps for this string",
  )
})

test("filters that search and sort give what Liquid says", () => {
  expect(
    render(
      "{{ 'a,b,,' | split: ',' | join: ';' }}|{{ '' | split: ',' | size }}|{{ 'abc' | split: '' | join: '-' }}",
    ),
  ).toBe("a;b|0|a-b-c")
  expect(
    render(
      "{{ 'abab' | replace: 'a', 'x' }} {{ 'abab' | replace_first: 'a', '$&' }} {{ 'abab' | replace_last: 'a', 'x' }}",
    ),
  ).toBe("xbxb $&bab abxb")
  expect(
    render(
      "{{ 'abab' | remove: 'a' }} {{ 'abab' | remove_first: 'a' }} {{ 'abab' | RemoveLast: 'a' }} {{ 'ab' | replace: '', '-' }}",
    ),
  ).toBe("bb bab abb a-b")
  expect(
    render(
      "{{ list | sort: 'n' | map: 'n' | join: ',' }} {{ 'b,A,c' | split: ',' | sort | join }} {{ 'b,A,c' | split: ',' | sort_natural | join }}",
      { list: [{ n: 2 }, {}, { n: 1 }] },
    ),
  ).toBe("1,2, A b c A b c")
  expect(
    render(
      "{% if list contains 2 %}y{% endif %}{% if missing contains 'a' %}n{% endif %}{% if 'a' contains missing %}n{% endif %}{% if 'a1' contains 1 %}y{% endif %}",
      { list: [1, 2] },
    ),
  ).toBe("yy")
  expect(render("{{ list }} {{ list | upcase }} {{ list | size }}", { list: ["a", ["b", null, 1]] })).toBe(
    "ab1 AB1 2",
  )
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
    ["a long list", "{% for i in (1..10000000) %}x{% endfor %}", "characters or items in one step"],
    [
      "long lists",
      "{% for i in (1..9) %}{% assign l = (1..450000) %}{% endfor %}",
      "creates more than 4000000",
    ],
    [
      "a loop in a loop",
      "{% for i in (1..100000) %}{% for j in (1..10) %}{% endfor %}{% endfor %}",
      "it takes too many steps",
    ],
    [
      "a doubling text",
      `{% assign s = "aaaaaaaa" %}${"{% assign s = s | append: s %}".repeat(40)}{{ s }}`,
      "it creates more than",
    ],
  ])("%s", async (_, source, message) => {
    await expect(renderInTurns(source)).rejects.toThrow(message)
    await expect(renderInTurns(source)).rejects.toThrow(TemplateProblem)
  })

  const long = "a".repeat(450_000)
  const hard = `${"a".repeat(20_000)}b${"a".repeat(20_000)}`
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => (index * 7919) % 1_000_003)

  // Each took ten seconds and more when the text was looked for at every place.
  test.each([
    ["{{ long | split: hard | size }}", "1"],
    ["{{ long | replace: hard, 'x' | size }}", "450000"],
    ["{{ long | replace_first: hard, 'x' | size }}", "450000"],
    ["{{ long | ReplaceLast: hard, 'x' | size }}", "450000"],
    ["{{ long | remove: hard | size }}", "450000"],
    ["{{ long | remove_first: hard | size }}", "450000"],
    ["{{ long | remove_last: hard | size }}", "450000"],
    ["{% if long contains hard %}yes{% else %}no{% endif %}", "no"],
  ])("a text the caller brings is searched for in linear time: %s", async (source, expected) => {
    expect((await renderInTurns(source, { long, hard })).made).toBe(expected)
  })

  test.each([
    ["what is written", "{% for i in (1..400) %}{{ long }}{% endfor %}"],
    [
      "what is captured",
      "{% capture c %}{% for i in (1..400) %}{{ long }}{% endfor %}{% endcapture %}{{ c | size }}",
    ],
    [
      "a long text in a list many times",
      "{% assign l = '' | split: '' %}{% for i in (1..99) %}{% assign l = l | push: long %}{% endfor %}{{ l }}",
    ],
    [
      "such a list as text",
      "{% assign l = '' | split: '' %}{% for i in (1..99) %}{% assign l = l | push: long %}{% endfor %}{{ l | upcase | size }}",
    ],
    ["what is put in the place of a pattern", "{{ long | slice: 0, 100000 | Replace: 'a', by | size }}"],
  ])("%s is counted", async (_, source) => {
    await expect(renderInTurns(source, { long, by: "x".repeat(900) })).rejects.toThrow(
      "it creates more than 4000000 characters",
    )
  })

  test.each([
    ["where a path is long", "{{ list | where: path, 1 | size }}"],
    ["where a path is long (map)", "{{ list | map: path | size }}"],
    ["while a list is sorted", "{{ many | sort | size }}"],
    ["while a list is sorted without case", "{{ many | sort_natural | size }}"],
    ["between filters", `{{ few ${"| sort ".repeat(50)} | size }}`],
    [
      "between matches of a pattern",
      "{% for i in (1..90) %}{{ long | slice: 0, 50000 | Replace: 'x*', '' | size }}{% endfor %}",
    ],
  ])("steps are counted %s", async (_, source) => {
    const list = Array.from({ length: 50_000 }, () => ({ a: 1 }))
    const path = `${"a.".repeat(100_000)}a`
    const variables = { long, list, path, many: numbers(450_000), few: numbers(50_000) }
    await expect(renderInTurns(source, variables)).rejects.toThrow("it takes too many steps")
  })

  test.each([
    ["a loop", "{% for i in list %}{{ i }},{% endfor %}", 6],
    ["a list that is sorted", "{{ list | sort | size }}", 6],
    ["a list that is mapped", "{{ objects | map: 'a' | size }}", 6],
    ["a pattern", "{{ text | Replace: '1|2', 'x' | size }}", 6],
  ])("no turn does more than its work: %s", async (_, source, least) => {
    const list = numbers(20_000)
    const objects = list.map((a) => ({ a }))
    const text = list.join("").slice(0, 100_000)
    const { turns } = await renderInTurns(source, { list, objects, text })
    expect(turns).toBeGreaterThanOrEqual(least)
  })

  test("sorting keeps the order of what is the same", async () => {
    const list = numbers(5_000).map((n, index) => ({ n: n % 7, index }))
    const source = "{% assign l = list | sort: 'n' %}{% for i in l %}{{ i.n }}:{{ i.index }} {% endfor %}"
    const { made } = await renderInTurns(source, { list })
    const sorted = list.toSorted((one, other) => one.n - other.n)
    expect(made).toBe(sorted.map(({ n, index }) => `${n}:${index} `).join(""))
  })

  test("a pattern that looks at all of the text for each match", async () => {
    const text = "a".repeat(100_000)
    await expect(renderInTurns("{{ text | Replace: 'a.*b|a', '' }}", { text })).rejects.toThrow(
      "the pattern needs too many steps for this string",
    )
  })

  test("a pattern that is too large for the text", async () => {
    const source = "{{ long | slice: 0, 100000 | Replace: '(a?){300}[bc]', '' }}"
    await expect(renderInTurns(source, { long })).rejects.toThrow(
      "the pattern needs too many steps for this string",
    )
  })

  test("what is nested deeply ends", async () => {
    const nested = JSON.parse("[".repeat(200_000) + "]".repeat(200_000)) as unknown
    for (const source of ["{{ nested }}", "{{ nested | json }}", "{% if nested == nested %}{% endif %}"])
      await expect(renderInTurns(source, { nested })).rejects.toThrow(
        /something is nested too deeply|too many steps/,
      )
    expect(() => compileTemplate("{% if a %}".repeat(26_000))).toThrow("something is nested too deeply")
  })

  test("a template of a megabyte", () => {
    expect(() => compileTemplate("x".repeat(1_000_000))).toThrow(TemplateProblem)
  })
})

describe("Date", () => {
  const at = { at: "2024-05-06T07:08:09.123Z", plus: "2024-05-06T23:30:00+02:00", day: "2024-05-06" }

  test.each([
    ['at | Date: "yyyy-MM-dd"', "2024-05-06"],
    ['at | Date: "yyyyMMdd HH:mm:ss"', "20240506 07:08:09"],
    ['at | Date: "dd MMM yyyy, hh:mm tt"', "06 May 2024, 07:08 AM"],
    ['at | Date: "yyyy-MM-ddTHH:mm:ss.fffZ"', "2024-05-06T07:08:09.123Z"],
    ["at | Date: \"yyyy'-Q'M\"", "2024-Q5"],
    ['at | Date: "d"', "05/06/2024"],
    ['at | Date: "%d"', "6"],
    ['at | Date: "s"', "2024-05-06T07:08:09"],
    ['at | Date: "R"', "Mon, 06 May 2024 07:08:09 GMT"],
    ['plus | Date: "yyyy-MM-dd HH:mm"', "2024-05-06 21:30"],
    ['day | Date: "dddd"', "Monday"],
    ['day | date: "yyyy/MM/dd"', "2024/05/06"],
    ['day | date: "%Y/%m/%d"', "2024/05/06"],
    ['day | Date: "%Y/%m/%d"', "2024/05/06"],
    ['"soon" | Date: "yyyy"', "soon"],
    ['none | Date: "yyyy"', ""],
    ['at | Date: "yyyy" | Append: "!"', "2024!"],
  ])("{{ %s }}", (inside, expected) => {
    expect(render(`{{ ${inside} }}`, at)).toBe(expected)
  })

  test("the time of the request", () => {
    expect(render('{{ "now" | Date: "yyyy" }}')).toMatch(/^20\d\d$/)
  })

  test("a format that is none is found when the template is compiled", () => {
    expect(() => compileTemplate('ab{{ at | Date: "x" }}')).toThrow(
      new TemplateProblem("`x` is not a valid time format", 17),
    )
    expect(compileTemplate('{% raw %}{{ at | Date: "x" }}{% endraw %}').render({})).toBe(
      '{{ at | Date: "x" }}',
    )
    expect(() => compileTemplate("{% assign a = at | Date: 'j' %}")).toThrow("`j` is not a valid time format")
    expect(() => compileTemplate('{{ n | Currency: "en-US" }}')).toThrow("invariant culture")
  })

  test("a format that is computed per request is judged then", () => {
    expect(render("{{ at | Date: f }}", { ...at, f: "yyyy" })).toBe("2024")
    expect(() => render("{{ at | Date: f }}", { ...at, f: "x" })).toThrow("is not a valid time format")
  })
})
