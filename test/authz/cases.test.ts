import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { describeServed, documentModel, type Served } from "./harness.ts"

/**
 * A case is a conversation: a request line, perhaps headers and a body, `=> STATUS`, perhaps headers and the JSON of the answer. In an answer `"*"` stands for anything
 * that is there and `"$name"` for what is called `{name}` from then on. `{store}` is a fresh store with the model `{model}`; the declared
 * store `acme` has the same model. Lines that begin with `# ` are comments.
 */
const folder = new URL("../cases/authz/", import.meta.url)

interface Exchange {
  readonly line: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer: string
}

function parseCase(text: string): readonly Exchange[] {
  const exchanges: Exchange[] = []
  const lines = text.split("\n").map((line) => (line.startsWith("# ") ? "" : line))
  let at = 0
  const until = (stop: RegExp) => {
    const start = at
    while (at < lines.length && !stop.test(lines[at] ?? "")) at += 1
    return lines.slice(start, at).join("\n").trim()
  }
  const headers = () => {
    const found: Record<string, string> = {}
    for (; ; at += 1) {
      const [, name, value = ""] = /^([A-Z][\w-]*): (.*)$/.exec(lines[at] ?? "") ?? []
      if (name === undefined) return found
      found[name] = value
    }
  }
  const request = /^(GET|POST|DELETE|PATCH|PUT) (\/\S*)$/
  until(request)
  while (at < lines.length) {
    const line = at + 1
    const [, method = "", path = ""] = request.exec(lines[at] ?? "") ?? []
    at += 1
    const sent = headers()
    const body = until(/^=> \d{3}$/)
    const status = Number((lines[at] ?? "").slice(3))
    at += 1
    const answerHeaders = headers()
    exchanges.push({
      line,
      method,
      path,
      headers: sent,
      body,
      status,
      answerHeaders,
      answer: until(request),
    })
  }
  return exchanges
}

/** Throws at the first difference; keeps captures. */
function match(actual: unknown, wanted: unknown, names: Map<string, string>, path: string): void {
  if (wanted === "*") {
    expect(actual, path).not.toBeUndefined()
  } else if (typeof wanted === "string" && wanted.startsWith("$")) {
    expect(actual, path).toBeTypeOf("string")
    names.set(wanted.slice(1), actual as string)
  } else if (typeof wanted === "object" && wanted !== null && typeof actual === "object" && actual !== null) {
    expect(Object.keys(actual).sort(), path).toEqual(Object.keys(wanted).sort())
    for (const [key, value] of Object.entries(wanted))
      match((actual as Record<string, unknown>)[key], value, names, `${path}.${key}`)
  } else expect(actual, path).toEqual(wanted)
}

async function converse(served: Served, exchanges: readonly Exchange[]): Promise<void> {
  const { json: store } = await served.call("POST", "/stores", { name: "case store" })
  const { json: model } = await served.call("POST", `/stores/${store.id}/authorization-models`, documentModel)
  const names = new Map([
    ["store", store.id as string],
    ["model", model.authorization_model_id as string],
  ])
  const fill = (text: string) => {
    let filled = text
    for (const [name, value] of names) filled = filled.replaceAll(`{${name}}`, value)
    return filled
  }
  for (const { line, method, path, headers, body, status, answerHeaders, answer } of exchanges) {
    const given = await served.call(method, fill(path), body === "" ? undefined : fill(body), headers)
    const where = `line ${line}: ${method} ${path}`
    expect(`${where} ${given.status} ${given.status === status ? "" : given.text}`.trim()).toBe(
      `${where} ${status}`,
    )
    expect(given.headers.get("x-request-id"), where).toMatch(/^[0-9a-f]{32}$/)
    for (const [name, value] of Object.entries(answerHeaders))
      match(given.headers.get(name) ?? undefined, fill(value), names, `${where} ${name}`)
    if (answer === "") expect(given.text, where).toBe("")
    else match(given.json, JSON.parse(fill(answer)), names, where)
  }
}

describeServed("authz cases", (served) => {
  for (const file of readdirSync(folder).sort()) {
    test(file.replace(/\.case$/, ""), () =>
      converse(served(), parseCase(readFileSync(new URL(file, folder), "utf8"))),
    )
  }
})
