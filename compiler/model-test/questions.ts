import type { Report } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import type { ListUsersQuestion, TestAssertion } from "./suite.ts"
import type { YamlEntry, YamlReader, YamlValue } from "./yaml-reader.ts"

interface PlacedText {
  readonly text: string
  readonly span: Span
}

/** One kind of question list in a test: its keys, and how an entry becomes questions. */
interface Asking {
  readonly key: "check" | "list_objects" | "list_users"
  readonly keys: readonly string[]
  questions(entry: Entry): TestAssertion[]
}

/** Maximum questions per entry: a few hundred users and objects would otherwise give millions. */
const questionsMax = 100_000

/** Each user with each object and each relation is one question. */
const checks: Asking = {
  key: "check",
  keys: ["user", "users", "object", "objects", "context", "assertions"],
  questions(entry) {
    const users = entry.oneOrMore("user", "users")
    const objects = entry.oneOrMore("object", "objects")
    const context = entry.json("context")
    const expectations = entry.assertions().flatMap(({ name, key, value }) => {
      const expected = entry.reader.flag(value, `\`${name}\``)
      return expected === undefined ? [] : [{ relation: name, expected, span: key }]
    })
    const count = users.length * objects.length * expectations.length
    if (count > questionsMax) return entry.tooMany(count)
    return users.flatMap((user) =>
      objects.flatMap((object) =>
        expectations.map(
          (each): TestAssertion => ({
            kind: "check",
            user: user.text,
            object: object.text,
            context,
            ...each,
            places: { user: user.span, object: object.span },
          }),
        ),
      ),
    )
  },
}

/** `list_objects`: the expected objects are compared without regard to their order. */
const listObjects: Asking = {
  key: "list_objects",
  keys: ["user", "type", "context", "assertions"],
  questions(entry) {
    const user = entry.text("user")
    const type = entry.text("type")
    const context = entry.json("context")
    return entry.assertions().flatMap(({ name, key, value }): TestAssertion[] => {
      const expected = entry.texts(value, `\`${name}\``)
      if (user === undefined || type === undefined) return []
      const places = { user: user.span, type: type.span }
      const asked = { user: user.text, type: type.text, relation: name, context }
      return [{ kind: "list_objects", ...asked, expected, span: key, places }]
    })
  },
}

/** `list_users`: the expected users are compared without regard to their order. */
const listUsers: Asking = {
  key: "list_users",
  keys: ["object", "user_filter", "context", "assertions"],
  questions(entry) {
    const object = entry.text("object")
    const filter = entry.userFilter()
    const context = entry.json("context")
    return entry.assertions().flatMap(({ name, key, value }): TestAssertion[] => {
      const fields = entry.reader.entries(value, `\`${name}\``, ["users"])
      const users = fields?.find((each) => each.name === "users")
      if (users === undefined) {
        if (fields !== undefined || entry.reader.isEmpty(value)) entry.missing("users", key)
        return []
      }
      const expected = entry.texts(users.value, "`users`")
      if (object === undefined || filter === undefined) return []
      const places = { object: object.span, filter: filter.span }
      const asked = { object: object.text, filter: filter.filter, relation: name, context }
      return [{ kind: "list_users", ...asked, expected, span: key, places }]
    })
  },
}

const askings: readonly Asking[] = [checks, listObjects, listUsers]

/** The keys of a test that hold questions. */
export const questionKeys: readonly string[] = askings.map(({ key }) => key)

/** All questions of a test, in the order of `check`, `list_objects`, `list_users`. */
export function readQuestions(
  reader: YamlReader,
  test: readonly YamlEntry[],
  report: Report,
): TestAssertion[] {
  return askings.flatMap((asking) => {
    const list = test.find(({ name }) => name === asking.key)
    return reader.list(list?.value, `\`${asking.key}\``).flatMap((value) => {
      const entries = reader.entries(value, `an entry of \`${asking.key}\``, asking.keys)
      return entries === undefined ? [] : asking.questions(new Entry(reader, entries, value.span, report))
    })
  })
}

/** An entry of `check`, `list_objects` or `list_users` while it is read. */
class Entry {
  readonly reader: YamlReader
  readonly #entries: readonly YamlEntry[]
  readonly #span: Span
  readonly #report: Report

  constructor(reader: YamlReader, entries: readonly YamlEntry[], span: Span, report: Report) {
    this.reader = reader
    this.#entries = entries
    this.#span = span
    this.#report = report
  }

  text(name: string): PlacedText | undefined {
    const entry = this.#find(name)
    const text = this.reader.text(entry?.value, `\`${name}\``)
    if (entry === undefined || this.reader.isEmpty(entry.value)) this.missing(name, entry?.key)
    return text === undefined || entry === undefined ? undefined : { text, span: entry.value.span }
  }

  texts(value: YamlValue, what: string): string[] {
    return this.#placedTexts(value, what).map(({ text }) => text)
  }

  #placedTexts(value: YamlValue, what: string): PlacedText[] {
    return this.reader.list(value, what).flatMap((item) => {
      const text = this.reader.text(item, `an item of ${what}`)
      return text === undefined ? [] : [{ text, span: item.span }]
    })
  }

  json(name: string): Readonly<Record<string, unknown>> | undefined {
    return this.reader.json(this.#find(name)?.value, `\`${name}\``)
  }

  /** `user` or `users`: exactly one of them is required. */
  oneOrMore(one: string, more: string): readonly PlacedText[] {
    const single = this.#find(one)
    const several = this.#find(more)
    if (single !== undefined && several !== undefined)
      this.#report.add("SP6005", several.key, `\`${more}\` conflicts with \`${one}\``, {
        related: [{ span: single.key, message: `\`${one}\` is here` }],
      })
    if (several === undefined) {
      const text = this.text(one)
      return text === undefined ? [] : [text]
    }
    if (this.reader.isEmpty(several.value)) this.missing(more, several.key)
    return this.#placedTexts(several.value, `\`${more}\``)
  }

  /** Exactly one: `list_users` of the API takes one filter. */
  userFilter(): { filter: ListUsersQuestion["filter"]; span: Span } | undefined {
    const entry = this.#find("user_filter")
    const [value, second] = this.reader.list(entry?.value, "`user_filter`")
    if (second !== undefined)
      this.#report.add("SP6005", second.span, "there is more than one filter; only one is allowed")
    if (value === undefined) {
      if (entry === undefined || this.reader.isEmpty(entry.value)) this.missing("user_filter", entry?.key)
      return undefined
    }
    const fields = this.reader.entries(value, "a filter", ["type", "relation"])
    if (fields === undefined) return undefined
    const type = this.reader.text(fields.find(({ name }) => name === "type")?.value, "`type`")
    const relation = this.reader.text(fields.find(({ name }) => name === "relation")?.value, "`relation`")
    if (type === undefined) this.missing("type", value.span)
    if (type === undefined) return undefined
    return { filter: { type, ...(relation ? { relation } : {}) }, span: value.span }
  }

  /** The asserted relations. Reports a missing or empty map. */
  assertions(): readonly YamlEntry[] {
    const entry = this.#find("assertions")
    if (entry === undefined) {
      this.missing("assertions")
      return []
    }
    const found = this.reader.entries(entry.value, "`assertions`") ?? []
    if (found.length === 0) this.#report.add("SP6012", entry.key, "this entry has no assertions")
    return found
  }

  tooMany(count: number): [] {
    const detail = `these users, objects and relations result in ${count} questions; the maximum is ${questionsMax}`
    this.#report.add("SP6013", this.#span, detail)
    return []
  }

  missing(name: string, at: Span = this.#span): void {
    if (this.reader.misspells({ span: this.#span }, name)) return
    this.#report.add("SP6004", at, `\`${name}\` is missing here`)
  }

  #find(name: string): YamlEntry | undefined {
    return this.#entries.find((each) => each.name === name)
  }
}
