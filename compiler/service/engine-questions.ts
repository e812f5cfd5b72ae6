import { Report } from "../core/diagnostic.ts"
import { type SourceFile, type Span, textOf } from "../core/source.ts"
import type { Argument, Statement } from "../gateway/ast.ts"
import type { Insight } from "../gateway/insight.ts"
import { YamlReader, type YamlValue } from "../model-test/yaml-reader.ts"
import { operationsIn } from "./routes-at.ts"

/** A question for a running engine. `store`: undefined for the only one. */
export type AskableQuestion =
  | {
      readonly kind: "check"
      readonly user: string
      readonly relation: string
      readonly object: string
      readonly context: Readonly<Record<string, unknown>>
      readonly store: string | undefined
    }
  | {
      readonly kind: "who"
      /** The type of the users to list. */
      readonly type: string
      readonly relation: string
      readonly object: string
      readonly store: string | undefined
    }

/** A question that a part of a file raises. */
export interface AskedAt {
  readonly span: Span
  readonly question: AskableQuestion
}

/** The assertions of `check` in tests of a model, each as a question. */
export function questionsOfTests(file: SourceFile): AskedAt[] {
  const reader = new YamlReader(file, new Report())
  const found: AskedAt[] = []
  reader.eachDocument((document) => {
    for (const test of listIn(reader, document, "tests"))
      for (const check of listIn(reader, test, "check")) found.push(...questionsOfCheck(reader, check))
  })
  return found
}

function questionsOfCheck(reader: YamlReader, check: YamlValue): AskedAt[] {
  const entries = entriesOf(reader, check)
  const named = (name: string) => entries.find((each) => each.name === name)?.value
  const texts = (one: string, several: string) => {
    const single = reader.text(named(one), "")
    const list = named(several)
    const all = list === undefined || !reader.isList(list) ? [] : reader.list(list, "")
    return [...(single === undefined ? [] : [single]), ...all.flatMap((each) => reader.text(each, "") ?? [])]
  }
  const [user, ...users] = texts("user", "users")
  const [object, ...objects] = texts("object", "objects")
  const assertions = named("assertions")
  // One line of the file can ask one question only.
  if (user === undefined || object === undefined || users.length + objects.length > 0) return []
  if (assertions === undefined) return []
  const context = reader.json(named("context"), "") ?? {}
  return entriesOf(reader, assertions).map(({ key, name: relation }) => ({
    span: key,
    question: { kind: "check", user, relation, object, context, store: undefined },
  }))
}

function entriesOf(reader: YamlReader, value: YamlValue) {
  return reader.isList(value) ? [] : (reader.entries(value, "") ?? [])
}

function listIn(reader: YamlReader, value: YamlValue, name: string): readonly YamlValue[] {
  const list = entriesOf(reader, value).find((each) => each.name === name)?.value
  return list === undefined || !reader.isList(list) ? [] : reader.list(list, "")
}

/** Who can pass the `require` statements of the operations of a file whose object is known without a request. */
export function questionsOfOperations(path: string, insight: Insight): AskedAt[] {
  return operationsIn(path, insight).flatMap(({ head, applying }) =>
    applying.flatMap(({ statement }) => {
      const question = whoPasses(statement)
      return question === undefined ? [] : [{ span: head, question }]
    }),
  )
}

/** `require RELATION of "TYPE:ID" for "TYPE:…" in STORE`. */
function whoPasses({ keyword, args }: Statement): AskableQuestion | undefined {
  if (keyword.text !== "require") return undefined
  const after = (word: string): Argument | undefined => {
    const at = args.findIndex((each) => each.kind === "word" && each.text === word)
    return at < 0 ? undefined : args[at + 1]
  }
  const [first] = args
  const [object, subject, store] = [after("of"), after("for"), after("in")]
  if (first?.kind !== "word" || object?.kind !== "text" || subject?.kind !== "text") return undefined
  const [whole, more] = object.parts
  const [begin] = subject.parts
  if (whole?.kind !== "literal" || more !== undefined || begin?.kind !== "literal") return undefined
  const type = /^([^:#\s]+):/.exec(begin.value)?.[1]
  const named = store === undefined ? undefined : textOf(store.span)
  // The name becomes a part of an address.
  if (type === undefined || (named !== undefined && !/^[\w-]+$/.test(named))) return undefined
  return { ...{ kind: "who", type, relation: first.text, object: whole.value }, store: named }
}
