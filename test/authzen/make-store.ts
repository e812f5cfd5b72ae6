import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { parse } from "yaml"
import { modelText } from "../../compiler/model/model-text.ts"
import type { Served } from "../authz/harness.ts"

const cases = new URL("../cases/authzen/", import.meta.url)

/** A store with the model and the tuples of a store file. */
export async function makeStore(served: Served, file: string): Promise<string> {
  const { name, model: text, tuples } = parse(readFileSync(new URL(file, cases), "utf8"))
  const read = modelText.read(text)
  if ("problems" in read) throw new Error(JSON.stringify(read.problems))
  const { json: store } = await served.call("POST", "/stores", { name })
  await served.call("POST", `/stores/${store.id}/authorization-models`, read.model)
  const written = await served.call("POST", `/stores/${store.id}/write`, { writes: { tuple_keys: tuples } })
  expect(written.text).toBe("{}")
  return store.id
}
