import { describe, expect, test } from "vitest"
import {
  type MovedText,
  type WordMove,
  withNewWords,
  withoutOldWords,
} from "../../compiler/model/move-words.ts"
import { wholeModelOf } from "../check/model.ts"

const model = `model
  schema 1.1

# People.
type user

type group
  relations
    define member: [user, group#member]

type folder
  relations
    define viewer: [user, group#member] # who sees
    define editor: [user with late]

type doc
  relations
    define parent: [folder]
    define blocked: [user]
    define viewer: [user, user:*, doc#viewer] or viewer from parent
    define editor: ([user, group#member] or editor from parent) but not blocked
    # Derived.
    define can_read: (viewer or editor) but not blocked
    define can_share: editor and viewer

condition late(hour: int) {
  hour > 18
}
`

/** The changed lines of both steps; each result compiles. */
function steps(moves: readonly WordMove[]): string[] {
  const both = textOf(withNewWords(model, moves))
  const after = textOf(withoutOldWords(both, moves))
  for (const text of [both, after]) wholeModelOf(text)
  return [...changed(model, both), "--", ...changed(both, after)]
}

function textOf(moved: MovedText): string {
  if ("problem" in moved) throw new Error(moved.problem)
  return moved.text
}

function changed(before: string, after: string): string[] {
  const [old, next] = [before, after].map((text) => text.split("\n"))
  return [
    ...(old ?? []).filter((line) => !next?.includes(line)).map((line) => `- ${line.trim()}`),
    ...(next ?? []).filter((line) => !old?.includes(line)).map((line) => `+ ${line.trim()}`),
  ]
}

describe("the text of a model whose words move", () => {
  test("a relation is renamed where it is read, and its sets in lists of users", () => {
    expect(steps([{ from: "doc#viewer", to: "doc#reader" }])).toEqual([
      "- define viewer: [user, user:*, doc#viewer] or viewer from parent",
      "+ define viewer: [user, user:*, doc#viewer, doc#reader] or viewer from parent",
      "+ define reader: [user, user:*, doc#reader] or viewer",
      "--",
      "- define viewer: [user, user:*, doc#viewer, doc#reader] or viewer from parent",
      "- define reader: [user, user:*, doc#reader] or viewer",
      "- define can_read: (viewer or editor) but not blocked",
      "- define can_share: editor and viewer",
      "+ define reader: [user, user:*, doc#reader] or viewer from parent",
      "+ define can_read: (reader or editor) but not blocked",
      "+ define can_share: editor and reader",
    ])
  })

  test("below an exclusion the old tuples count where the new ones do", () => {
    expect(steps([{ from: "doc#editor", to: "doc#writer" }]).slice(0, 1)).toEqual([
      "+ define writer: ([user, group#member] or editor or editor from parent) but not blocked",
    ])
  })

  test("a relation of a type behind `from`", () => {
    expect(steps([{ from: "folder#viewer", to: "folder#reader" }])).toContain(
      "+ define viewer: [user, user:*, doc#viewer] or reader from parent",
    )
  })

  test("a type, with its sets and conditions", () => {
    expect(steps([{ from: "folder", to: "dir" }])).toEqual([
      "- define parent: [folder]",
      "+ type dir",
      "+ define parent: [folder, dir]",
      "--",
      "- type folder",
      "- define parent: [folder, dir]",
      "+ define parent: [dir]",
    ])
  })

  test("a split, and a merge", () => {
    const split = [
      { from: "folder#viewer", to: "folder#reader", users: ["user"] },
      { from: "folder#viewer", to: "folder#team", users: ["group#member"] },
    ]
    expect(steps(split)).toContain("+ define team: [group#member]")
    expect(steps(split)).toContain(
      "+ define viewer: [user, user:*, doc#viewer] or (reader from parent or team from parent)",
    )
    const merged = steps([
      { from: "folder#viewer", to: "folder#staff" },
      { from: "folder#editor", to: "folder#staff" },
    ])
    expect(merged).toContain("+ define staff: [user, group#member, user with late] or viewer or editor")
    expect(merged).toContain("+ define staff: [user, group#member, user with late]")
  })

  test("what cannot be, is said", () => {
    const problem = (from: string, to: string) => withNewWords(model, [{ from, to }])
    expect(problem("doc#can_read", "doc#can_see")).toMatchObject({
      problem: expect.stringContaining("takes no tuples"),
    })
    expect(problem("doc#viewer", "doc#editor")).toMatchObject({
      problem: expect.stringContaining("already has a relation"),
    })
    expect(problem("doc#reader", "doc#b")).toMatchObject({ problem: "`doc` has no relation `reader`" })
    expect(problem("docs", "files")).toMatchObject({ problem: "the model has no type `docs`" })
  })
})
