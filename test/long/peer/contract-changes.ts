import type { Random } from "../../naive/random.ts"
import { type ContractCall, noId } from "./contract-calls.ts"

// Valid calls made invalid, or at the border, at every place of their bodies.

/** What a field is made to be. */
const strange: readonly unknown[] = [
  null,
  "",
  " ",
  "x",
  "*",
  "a b",
  "a:b",
  "user:*",
  "user:ann",
  "team:red#member",
  "team:red#nothing",
  "nothing:1",
  "document:1",
  "document:2",
  "document:",
  ":1",
  "a:b:c",
  "document:a#b",
  "nothing",
  "viewer",
  "guest",
  "error",
  "é\u00a0ü",
  "x".repeat(37),
  "x".repeat(51),
  "x".repeat(255),
  "x".repeat(257),
  `user:${"x".repeat(508)}`,
  noId,
  noId.toLowerCase(),
  0,
  1,
  -1,
  100,
  101,
  1.5,
  "7",
  true,
  [],
  {},
  [{}],
  [null],
  { type: "user" },
  [{ type: "user" }, { type: "team" }],
]

type Step = string | number

/** Every place of a JSON value, outermost first. */
function placesOf(value: unknown, path: readonly Step[] = []): (readonly Step[])[] {
  if (value === null || typeof value !== "object") return [path]
  const inner = Object.entries(value).flatMap(([name, each]) =>
    placesOf(each, [...path, Array.isArray(value) ? Number(name) : name]),
  )
  return [path, ...inner]
}

/** One change of a valid body; `what` says which. */
interface Change {
  readonly what: string
  readonly body: unknown
}

function edited(
  value: unknown,
  [step, ...rest]: readonly Step[],
  edit: (holder: Holder, last: Step) => void,
): unknown {
  if (step === undefined) return value
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Holder
  if (rest.length === 0) edit(copy, step)
  else copy[step] = edited(copy[step], rest, edit)
  return copy
}

type Holder = Record<Step, unknown>

const otherSpelling = (name: string) =>
  name.includes("_")
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** All changes there are of one place. */
function changesAt(body: unknown, path: readonly Step[]): Change[] {
  const where = path.join(".")
  if (path.length === 0) return []
  const name = path.at(-1) as Step
  const changes: Change[] = strange.map((value) => ({
    what: `${where} = ${short(value)}`,
    body: edited(body, path, (holder, last) => {
      holder[last] = value
    }),
  }))
  if (typeof name === "number") {
    changes.push({
      what: `${where} twice`,
      body: edited(body, path, (holder, last) => (holder as unknown as unknown[]).push(holder[last])),
    })
    for (const times of [19, 21, 51, 101])
      changes.push({
        what: `${where} ${times} times`,
        body: edited(body, path, (holder, last) => {
          const items = holder as unknown as unknown[]
          while (items.length < times) items.push(numbered(holder[last], items.length))
        }),
      })
    return changes
  }
  changes.push({ what: `without ${where}`, body: edited(body, path, (holder, last) => delete holder[last]) })
  changes.push({
    what: `unknown field beside ${where}`,
    body: edited(body, path, (holder) => {
      holder["nobody_knows"] = { it: 1 }
    }),
  })
  if (otherSpelling(name) !== name)
    changes.push({
      what: `${where} spelled otherwise`,
      body: edited(body, path, (holder, last) => {
        holder[otherSpelling(String(last))] = holder[last]
        delete holder[last]
      }),
    })
  return changes
}

/** The same with other users and ids, so that nothing is there twice. */
function numbered(value: unknown, count: number): unknown {
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (name === "user" && typeof each === "string" && !each.includes("#")) return [name, `${each}${count}`]
      if (name === "correlation_id") return [name, `${each}${count}`]
      return [name, typeof each === "object" && !Array.isArray(each) ? numbered(each, count) : each]
    }),
  )
}

const short = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 30 ? `${text.slice(0, 12)}… (${text.length})` : text
}

/** Every single change of a call's body. */
export function changed(call: ContractCall): ContractCall[] {
  return placesOf(call.body).flatMap((path) =>
    changesAt(call.body, path).map(({ what, body }) => ({ ...call, body, changes: [what] })),
  )
}

/** A call with two or three changes. */
export function randomCall(random: Random, bases: readonly ContractCall[]): ContractCall {
  const base = random.pick(bases)
  let body = base.body
  const changes: string[] = []
  for (let left = 2 + random.below(2); left > 0; left -= 1) {
    const path = random.pick(placesOf(body))
    const options = changesAt(body, path)
    if (options.length === 0) continue
    const change = random.pick(options)
    body = change.body
    changes.push(change.what)
  }
  return { ...base, body, changes }
}
